//! `message_consume_log`: what each consumer has done, once a fact.

use entity::message_consume_log::{ActiveModel, Column, Entity, Model, Status};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter};

use super::rows;
use crate::database::Transaction;

/// Inserts and returns the row's id; a violation of `uk_consume_log` means that the fact was acted on.
pub async fn insert(tx: &Transaction, entry: Model) -> Result<i64, DbErr> {
    rows::insert::<ActiveModel, _>(tx, entry).await
}

/// Notes that there was nothing to do.
pub async fn note_nothing(tx: &Transaction, id: i64) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(Status::Nothing))
        .filter(Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}

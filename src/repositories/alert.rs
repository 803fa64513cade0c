//! `alert`: what a person must see, once a kind and subject.

use chrono::{DateTime, Utc};
use entity::alert::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect,
};

use super::rows;
use crate::database::Transaction;

/// Raises it unless it was raised before; then nothing changes.
pub async fn raise(tx: &Transaction, alert: Model) -> Result<(), DbErr> {
    let ignore = OnConflict::columns([Column::Kind, Column::Subject])
        .do_nothing_on([Column::Id])
        .to_owned();
    rows::without_id::<ActiveModel, _>(alert)
        .on_conflict(ignore)
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// Opens an alert again that somebody has acknowledged.
pub async fn reopen(
    tx: &Transaction,
    kind: &str,
    subject: &str,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::AcknowledgedAt, Expr::value(None::<DateTime<Utc>>))
        .col_expr(Column::CreatedAt, Expr::value(now))
        .filter(Column::Kind.eq(kind))
        .filter(Column::Subject.eq(subject))
        .filter(Column::AcknowledgedAt.is_not_null())
        .exec(tx)
        .await?;
    Ok(())
}

/// Up to `limit` alerts, those that nobody saw first, the newest first.
pub async fn list(db: &impl ConnectionTrait, limit: u64) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .order_by_asc(Expr::col(Column::AcknowledgedAt).is_not_null())
        .order_by_desc(Column::Id)
        .limit(limit)
        .all(db)
        .await
}

/// How many nobody has acknowledged.
pub async fn count_open(db: &impl ConnectionTrait) -> Result<u64, DbErr> {
    let open = Entity::find().filter(Column::AcknowledgedAt.is_null());
    open.count(db).await
}

pub async fn find(db: &impl ConnectionTrait, id: i64) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// Notes that somebody saw it; the first time counts.
pub async fn acknowledge(
    db: &impl ConnectionTrait,
    id: i64,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::AcknowledgedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::AcknowledgedAt.is_null())
        .exec(db)
        .await?;
    Ok(())
}

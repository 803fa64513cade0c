//! `notification`: what customers were told.

use entity::UserId;
use entity::notification::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::rows;
use crate::database::Transaction;

/// Inserts; a violation of `uk_notification` means that the customer was told of the fact.
pub async fn insert(tx: &Transaction, notification: Model) -> Result<(), DbErr> {
    let row = rows::without_id::<ActiveModel, _>(notification);
    row.exec_without_returning(tx).await.map(|_| ())
}

/// Up to `limit` of what a customer was told of events before `before`, newest first.
pub async fn list(
    db: &impl ConnectionTrait,
    user: &UserId,
    before: i64,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::UserId.eq(user.clone()))
        .filter(Column::EventId.lt(before))
        .order_by_desc(Column::EventId)
        .limit(limit)
        .all(db)
        .await
}

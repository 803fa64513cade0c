//! `refund`: money that goes back.

use chrono::{DateTime, Utc};
use entity::refund::{ActiveModel, Column, Entity, Model, RefundStatus};
use entity::{OrderId, PaymentId, RefundId};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::due::is_due;
use super::rows;
use crate::database::Transaction;

/// Inserts; a violation of `uk_refund_no` means that the payment has a refund of that number.
pub async fn insert(tx: &Transaction, refund: &Model) -> Result<RefundId, DbErr> {
    rows::insert::<ActiveModel, _>(tx, refund.clone()).await
}

pub async fn find(db: &impl ConnectionTrait, id: RefundId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

pub async fn by_number(
    db: &impl ConnectionTrait,
    payment: PaymentId,
    refund_no: &str,
) -> Result<Option<Model>, DbErr> {
    let key = Column::PaymentId
        .eq(payment)
        .and(Column::RefundNo.eq(refund_no));
    rows::one::<Entity>(db, key).await
}

pub async fn of_order(db: &impl ConnectionTrait, order: OrderId) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.eq(order))
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

/// All refunds of a payment; its order's lock makes the answer hold.
pub async fn of_payment(
    db: &impl ConnectionTrait,
    payment: PaymentId,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::PaymentId.eq(payment))
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

/// Moves a refund; false when it is not where it was seen.
pub async fn move_to(
    tx: &Transaction,
    refund: &Model,
    to: RefundStatus,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let mut update = Entity::update_many()
        .col_expr(Column::Status, Expr::value(to))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(refund.id))
        .filter(Column::Status.eq(refund.status));
    if matches!(to, RefundStatus::Succeeded | RefundStatus::Failed) {
        update = update.col_expr(Column::SettledAt, Expr::value(now));
    }
    Ok(update.exec(tx).await?.rows_affected == 1)
}

/// Refunds whose end is not known and that are due.
pub async fn due(
    db: &impl ConnectionTrait,
    now: DateTime<Utc>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::Status.is_in([RefundStatus::Requested, RefundStatus::Processing]))
        .filter(is_due(Column::NextAskAt, now))
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(db)
        .await
}

/// Notes that the gateway is asked now: PROCESSING from here on; false when another asked.
pub async fn note_ask(
    db: &impl ConnectionTrait,
    refund: &Model,
    next_ask_at: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Status, Expr::value(RefundStatus::Processing))
        .col_expr(Column::Asks, Expr::col(Column::Asks).add(1))
        .col_expr(Column::NextAskAt, Expr::value(next_ask_at))
        .filter(Column::Id.eq(refund.id))
        .filter(Column::Status.eq(refund.status))
        .filter(Column::Asks.eq(refund.asks))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

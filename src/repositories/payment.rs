//! `payment`: attempts, changed under their order's lock by conditional update.

use chrono::{DateTime, Utc};
use entity::payment::{ActiveModel, Column, Entity, Model, PaymentStatus, Role};
use entity::{OrderId, PaymentId, order};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QuerySelect, UpdateMany,
};

use super::due::is_due;
use crate::database::Transaction;
use crate::domain::due::latest;

/// An order with all its attempts, by id.
pub type OrderWithPayments = (order::Model, Vec<Model>);

/// What is noted of a success.
#[derive(Debug, Clone, Copy)]
pub struct Money<'a> {
    pub role: Role,
    /// The gateway's own number.
    pub trade_no: &'a str,
    pub paid_at: DateTime<Utc>,
}

/// Inserts; a violation of `uk_payment_live` means that another attempt is live.
pub async fn insert(tx: &Transaction, payment: &Model) -> Result<(), DbErr> {
    let row: ActiveModel = payment.clone().into_active_model();
    Entity::insert(row.reset_all())
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

pub async fn find(db: &impl ConnectionTrait, id: PaymentId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// All attempts of an order, by id.
pub async fn of_order(db: &impl ConnectionTrait, order: OrderId) -> Result<Vec<Model>, DbErr> {
    of_orders(db, &[order]).await
}

/// All attempts of several orders, by id.
pub async fn of_orders(db: &impl ConnectionTrait, ids: &[OrderId]) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.is_in(ids.iter().copied()))
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

/// The order and its attempts in one statement, their rows locked until the transaction ends.
pub async fn lock_with_order(
    tx: &Transaction,
    order: OrderId,
) -> Result<Option<OrderWithPayments>, DbErr> {
    let found = order::Entity::find_by_id(order)
        .find_with_related(Entity)
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .all(tx)
        .await?;
    Ok(found.into_iter().next())
}

/// Moves an attempt; false when it is not in `from`.
pub async fn move_to(
    tx: &Transaction,
    payment: &Model,
    to: PaymentStatus,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let mut update = Entity::update_many().col_expr(Column::Status, Expr::value(to));
    if !matches!(to, PaymentStatus::Created | PaymentStatus::Live) {
        update = update.col_expr(Column::LiveSlot, Expr::value(payment.id));
    }
    changed(tx, from(update, payment), now).await
}

/// Notes the money: SUCCEEDED, its role, the gateway's number and time.
pub async fn succeed(
    tx: &Transaction,
    payment: &Model,
    money: Money<'_>,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Status, Expr::value(PaymentStatus::Succeeded))
        .col_expr(Column::Role, Expr::value(money.role))
        .col_expr(Column::TradeNo, Expr::value(money.trade_no))
        .col_expr(Column::LiveSlot, Expr::value(payment.id))
        .col_expr(Column::SucceededAt, Expr::value(money.paid_at));
    changed(tx, from(update, payment), now).await
}

/// Notes where the buyer pays: CREATED → LIVE.
pub async fn open(
    tx: &Transaction,
    payment: &Model,
    checkout_url: &str,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Status, Expr::value(PaymentStatus::Live))
        .col_expr(Column::CheckoutUrl, Expr::value(checkout_url));
    changed(tx, from(update, payment), now).await
}

/// Asks for the end of open attempts at their gateway, and frees the live slot.
pub async fn request_close(
    tx: &Transaction,
    ids: &[PaymentId],
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::LiveSlot, Expr::col(Column::Id))
        .col_expr(Column::CloseRequestedAt, Expr::value(now))
        .col_expr(Column::NextAskAt, Expr::value(now))
        .col_expr(Column::Asks, Expr::value(0))
        .filter(Column::Id.is_in(ids.iter().copied()))
        .filter(Column::CloseRequestedAt.is_null());
    changed(tx, update, now).await.map(|_| ())
}

/// Reserves `amount` for a refund; false when the payment has no such room.
pub async fn reserve(
    tx: &Transaction,
    id: PaymentId,
    amount: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let sum = || Expr::col(Column::RefundedAmount).add(amount);
    let update = Entity::update_many()
        .col_expr(Column::RefundedAmount, sum())
        .filter(Column::Id.eq(id))
        .filter(sum().lte(Expr::col(Column::Amount)));
    changed(tx, update, now).await
}

/// Gives a failed refund's reservation back.
pub async fn release(
    tx: &Transaction,
    id: PaymentId,
    amount: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let rest = Expr::col(Column::RefundedAmount).sub(amount);
    let update = Entity::update_many()
        .col_expr(Column::RefundedAmount, rest)
        .filter(Column::Id.eq(id))
        .filter(Column::RefundedAmount.gte(amount));
    changed(tx, update, now).await
}

/// Counts a callback that waits, or one (negative) that waits no more.
pub async fn add_parked(
    tx: &Transaction,
    id: PaymentId,
    count: i32,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Parked, Expr::col(Column::Parked).add(count))
        .filter(Column::Id.eq(id));
    changed(tx, update, now).await
}

/// Attempts whose end was asked for, that are still open and due.
pub async fn due_to_close(
    db: &impl ConnectionTrait,
    now: DateTime<Utc>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::CloseRequestedAt.is_not_null())
        .filter(Column::Status.is_in(PaymentStatus::OPEN))
        .filter(is_due(Column::NextAskAt, now))
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(db)
        .await
}

/// Open attempts that nobody wants to end, made before `made_before` (or under a clock that was ahead), that are due,
/// and whose time is not over.
pub async fn due_to_ask(
    db: &impl ConnectionTrait,
    now: DateTime<Utc>,
    made_before: DateTime<Utc>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::CloseRequestedAt.is_null())
        .filter(Column::Status.is_in(PaymentStatus::OPEN))
        .filter(is_due(Column::NextAskAt, now))
        .filter(
            Column::CreatedAt
                .lte(made_before)
                .or(Column::CreatedAt.gt(latest(now))),
        )
        .filter(Column::ExpiresAt.gt(now))
        .order_by_asc(Column::NextAskAt)
        .limit(limit)
        .all(db)
        .await
}

/// Notes that the gateway is asked now, and when it is asked again; false when another did.
pub async fn note_ask(
    db: &impl ConnectionTrait,
    payment: &Model,
    next_ask_at: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Asks, Expr::col(Column::Asks).add(1))
        .col_expr(Column::NextAskAt, Expr::value(next_ask_at))
        .filter(Column::Id.eq(payment.id))
        .filter(Column::Asks.eq(payment.asks))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

fn from(update: UpdateMany<Entity>, payment: &Model) -> UpdateMany<Entity> {
    update
        .filter(Column::Id.eq(payment.id))
        .filter(Column::Status.eq(payment.status))
}

async fn changed(
    tx: &Transaction,
    update: UpdateMany<Entity>,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = update
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .exec(tx)
        .await?;
    Ok(result.rows_affected > 0)
}

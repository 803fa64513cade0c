//! `orders`: found by their owner or by an operator, changed under their row lock.

use chrono::{DateTime, Utc};
use entity::order::{ActiveModel, Column, Entity, Model, OrderStatus};
use entity::payment::{self, PaymentStatus};
use entity::{Address, OrderId, UserId, order_item};
use sea_orm::sea_query::{Cond, Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QuerySelect,
};

use super::due::is_due;
use crate::database::Transaction;

/// An order with what it holds.
pub type WithItems = (Model, Vec<order_item::Model>);

/// Whose orders are meant.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// Only this customer's.
    Of(&'a UserId),
    Anybodys,
}

/// When something happened, and when we heard of it.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub happened_at: DateTime<Utc>,
    pub now: DateTime<Utc>,
}

/// Where a page of a list begins: behind this order.
pub type Cursor = (DateTime<Utc>, OrderId);

/// Inserts; a violation of `pk_orders` means that the id was used.
pub async fn insert(tx: &Transaction, order: &Model) -> Result<(), DbErr> {
    let row: ActiveModel = order.clone().into_active_model();
    Entity::insert(row.reset_all())
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// The order with its items, by product, in one read.
pub async fn find(
    db: &impl ConnectionTrait,
    id: OrderId,
    whose: Whose<'_>,
) -> Result<Option<WithItems>, DbErr> {
    let found = Entity::find_by_id(id)
        .filter(owned(whose))
        .find_with_related(order_item::Entity)
        .order_by_asc(order_item::Column::ProductId)
        .all(db)
        .await?;
    Ok(found.into_iter().next())
}

/// The order alone.
pub async fn find_alone(
    db: &impl ConnectionTrait,
    id: OrderId,
    whose: Whose<'_>,
) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).filter(owned(whose)).one(db).await
}

/// The order with its row locked until the transaction ends.
pub async fn lock(tx: &Transaction, id: OrderId, whose: Whose<'_>) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id)
        .filter(owned(whose))
        .lock_exclusive()
        .one(tx)
        .await
}

/// Up to `limit` orders, newest first, behind `after`.
pub async fn list(
    db: &impl ConnectionTrait,
    whose: Whose<'_>,
    status: Option<OrderStatus>,
    after: Option<Cursor>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let mut query = Entity::find().filter(owned(whose));
    if let Some(status) = status {
        query = query.filter(Column::Status.eq(status));
    }
    if let Some((created_at, id)) = after {
        let same_moment = Column::CreatedAt.eq(created_at).and(Column::Id.lt(id));
        query = query.filter(Column::CreatedAt.lt(created_at).or(same_moment));
    }
    query
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id)
        .limit(limit)
        .all(db)
        .await
}

/// Up to `limit` orders whose time to pay is over, but not those of which no open attempt is to be asked
/// about before later.
pub async fn overdue(
    db: &impl ConnectionTrait,
    now: DateTime<Utc>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let due = open_attempts()
        .and_where(is_due(payment::Column::NextAskAt, now))
        .to_owned();
    let nothing_later = Expr::not_exists(open_attempts());
    Entity::find()
        .filter(Column::Status.is_in([OrderStatus::PendingPayment, OrderStatus::Paying]))
        .filter(Column::ExpiresAt.lte(now))
        .filter(nothing_later.or(Expr::exists(due)))
        .order_by_asc(Column::ExpiresAt)
        .limit(limit)
        .all(db)
        .await
}

/// Of the order, those that may still bring money.
fn open_attempts() -> SelectStatement {
    let order = Expr::col((payment::Entity, payment::Column::OrderId));
    Query::select()
        .expr(Expr::val(1))
        .from(payment::Entity)
        .and_where(order.equals((Entity, Column::Id)))
        .and_where(payment::Column::Status.is_in(PaymentStatus::OPEN))
        .to_owned()
}

/// Moves the order from one of `sources` to `to` and stamps the arrival; false when it is elsewhere.
pub async fn move_to(
    tx: &Transaction,
    id: OrderId,
    sources: &[OrderStatus],
    to: OrderStatus,
    times: Times,
) -> Result<bool, DbErr> {
    let mut update = Entity::update_many()
        .col_expr(Column::Status, Expr::value(to))
        .filter(Column::Status.is_in(sources.iter().copied()));
    if let Some(column) = arrival(to) {
        update = update.col_expr(column, Expr::value(times.happened_at));
    }
    change(tx, update, id, times.now).await
}

/// Gives the next `seq` to an event that moves nothing.
pub async fn advance_seq(tx: &Transaction, id: OrderId, now: DateTime<Utc>) -> Result<bool, DbErr> {
    change(tx, Entity::update_many(), id, now).await
}

/// Notes what succeeded refunds of the booked payment gave back.
pub async fn set_refunded(
    tx: &Transaction,
    id: OrderId,
    refunded_amount: i64,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::RefundedAmount, Expr::value(refunded_amount))
        .filter(Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}

/// Notes where the parcel is.
pub async fn set_shipment(
    tx: &Transaction,
    id: OrderId,
    carrier: &str,
    tracking_no: &str,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Carrier, Expr::value(carrier))
        .col_expr(Column::TrackingNo, Expr::value(tracking_no))
        .filter(Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}

/// Writes the address under the version that was read; false when the version has moved on.
pub async fn set_address(
    tx: &Transaction,
    order: &Model,
    address: &Address,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Address, Expr::value(address.clone()))
        .filter(Column::Version.eq(order.version));
    change(tx, update, order.id, now).await
}

async fn change(
    tx: &Transaction,
    update: sea_orm::UpdateMany<Entity>,
    id: OrderId,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = update
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::LastSeq, Expr::col(Column::LastSeq).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(result.rows_affected == 1)
}

const fn arrival(status: OrderStatus) -> Option<Column> {
    match status {
        OrderStatus::Paid => Some(Column::PaidAt),
        OrderStatus::Shipped => Some(Column::ShippedAt),
        OrderStatus::Finished => Some(Column::FinishedAt),
        OrderStatus::Closed => Some(Column::ClosedAt),
        OrderStatus::PendingPayment
        | OrderStatus::Paying
        | OrderStatus::Refunding
        | OrderStatus::Refunded => None,
    }
}

fn owned(whose: Whose<'_>) -> Cond {
    match whose {
        Whose::Of(user) => Cond::all().add(Column::UserId.eq(user.clone())),
        Whose::Anybodys => Cond::all(),
    }
}

//! Loyalty points: credited when an order is paid, taken back when money goes back.

use chrono::{DateTime, Utc};
use entity::points_ledger::{self, Reason};
use entity::{OrderId, order};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Caller;
use crate::database::{OnDuplicate, Transaction};
use crate::domain::points;
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::order::Whose;
use crate::services::api::responses::Page;

/// A customer's points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PointsView {
    /// May be below zero for a moment while events are on their way.
    pub balance: i64,
    /// The newest movements first.
    pub data: Vec<MovementView>,
    /// For the next page; `None` on the last.
    pub next_cursor: Option<String>,
}

/// One movement of points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MovementView {
    pub id: String,
    #[schema(value_type = String)]
    pub order_id: OrderId,
    /// Negative when points were taken back.
    pub change: i64,
    #[schema(value_type = String)]
    pub reason: Reason,
    pub created_at: DateTime<Utc>,
}

/// Which fact moves points, and when it happened.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    pub order: OrderId,
    pub biz_key: &'a str,
    pub happened_at: DateTime<Utc>,
}

/// Credits what `amount` is worth, in minor units; false when that is nothing.
pub async fn credit(tx: &Transaction, fact: Fact<'_>, amount: i64) -> Result<bool> {
    let order = order_of(tx, fact).await?;
    let change = points::worth(amount, order.points_unit);
    move_by(tx, fact, order, change, Reason::Paid).await
}

/// Takes back what went back between the totals `before` and `after`, in minor units; false when
/// that is nothing.
pub async fn take_back(
    tx: &Transaction,
    fact: Fact<'_>,
    (before, after): (i64, i64),
) -> Result<bool> {
    let order = order_of(tx, fact).await?;
    let taken = points::taken_back(order.amount, before, after, order.points_unit);
    let taken = taken.ok_or_else(|| Error::Internal("totals that no payment has".to_owned()))?;
    move_by(tx, fact, order, -taken, Reason::Refunded).await
}

/// The caller's balance and a page of its movements.
pub async fn read(app: &App, caller: &Caller, before: i64, limit: u64) -> Result<PointsView> {
    let db = app.db.read();
    let balance = repositories::points::balance(db, &caller.user).await?;
    let movements = repositories::points::movements(db, &caller.user, before, limit + 1).await?;
    let page = Page::cut(movements, limit, |movement| movement.id.to_string());
    let Page { data, next_cursor } = page.map(MovementView::from);
    Ok(PointsView {
        balance,
        data,
        next_cursor,
    })
}

async fn order_of(tx: &Transaction, fact: Fact<'_>) -> Result<order::Model> {
    let order = repositories::order::find_alone(tx, fact.order, Whose::Anybodys).await?;
    order.ok_or_else(|| Error::Internal("an event of no order".to_owned()))
}

async fn move_by(
    tx: &Transaction,
    fact: Fact<'_>,
    order: order::Model,
    change: i64,
    reason: Reason,
) -> Result<bool> {
    if change == 0 {
        return Ok(false);
    }
    let movement = points_ledger::Model {
        id: 0,
        user_id: order.user_id,
        biz_key: fact.biz_key.to_owned(),
        order_id: order.id,
        change,
        reason,
        created_at: fact.happened_at,
    };
    repositories::points::move_by(tx, movement)
        .await
        .on_duplicate("uk_points_ledger", Error::ActedOn)?;
    Ok(true)
}

impl From<points_ledger::Model> for MovementView {
    fn from(movement: points_ledger::Model) -> Self {
        Self {
            id: movement.id.to_string(),
            order_id: movement.order_id,
            change: movement.change,
            reason: movement.reason,
            created_at: movement.created_at,
        }
    }
}

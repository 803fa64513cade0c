//! The only place that writes an order's status, its slots and its events.

use chrono::{DateTime, Utc};
use entity::order::{self, OrderStatus};
use entity::order_event;
use serde_json::Value;

use crate::database::Transaction;
use crate::domain::events::{self, ADDRESS_CHANGED};
use crate::domain::order_flow::{self, Move};
use crate::domain::slot::active_slot;
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::order::Times;

/// What an event says beside the change of status: actor, payload, time; never anything personal.
#[derive(Debug, Clone)]
pub struct Note<'a> {
    pub actor: &'a str,
    pub payload: Value,
    /// When it happened by the gateway's clock, if a gateway told us.
    pub happened_at: Option<DateTime<Utc>>,
}

impl<'a> Note<'a> {
    /// A note about something that happens now.
    pub const fn new(actor: &'a str, payload: Value) -> Self {
        Self {
            actor,
            payload,
            happened_at: None,
        }
    }
}

/// Changes the status of an order whose row the caller has locked, and writes the event;
/// [`Error::StateConflict`] when the state machine does not allow it.
///
/// Returns the order as it is now.
pub async fn change(
    tx: &Transaction,
    order: order::Model,
    action: Move,
    note: Note<'_>,
    now: DateTime<Utc>,
) -> Result<order::Model> {
    let conflict = Error::StateConflict {
        status: order.status,
    };
    let to = order_flow::next(order.status, action).ok_or(conflict)?;
    let times = Times {
        happened_at: note.happened_at.unwrap_or(now),
        now,
    };
    if !repositories::order::move_to(tx, order.id, &[order.status], to, times).await? {
        return Err(Error::StateConflict {
            status: order.status,
        });
    }
    let slot = active_slot(order.policy, to, order.id);
    if slot != active_slot(order.policy, order.status, order.id) {
        repositories::order_item::set_slot(tx, order.id, slot).await?;
    }
    let from = order.status;
    let changed = moved(order, to, times);
    let event = event(&changed, events::of_arrival(to), Some(from), note, now);
    repositories::order_event::insert(tx, event).await?;
    Ok(changed)
}

/// Writes the event of an order that was just inserted.
pub async fn placed(tx: &Transaction, order: &order::Model, note: Note<'_>) -> Result<()> {
    let event = event(order, events::ORDER_PLACED, None, note, order.created_at);
    Ok(repositories::order_event::insert(tx, event).await?)
}

/// Writes the event of a new address, which changes no status; `order` is the row after the change.
pub async fn address_changed(
    tx: &Transaction,
    order: &order::Model,
    note: Note<'_>,
    now: DateTime<Utc>,
) -> Result<()> {
    let event = event(order, ADDRESS_CHANGED, Some(order.status), note, now);
    Ok(repositories::order_event::insert(tx, event).await?)
}

fn event(
    order: &order::Model,
    kind: &str,
    from: Option<OrderStatus>,
    note: Note<'_>,
    now: DateTime<Utc>,
) -> order_event::Model {
    order_event::Model {
        id: 0,
        order_id: order.id,
        seq: order.last_seq,
        kind: kind.to_owned(),
        subject: events::subject(&note.payload, order.last_seq),
        from_status: from,
        to_status: order.status,
        actor: note.actor.to_owned(),
        payload: note.payload,
        created_at: now,
        published_at: None,
    }
}

/// Writes an event that changes no status; returns the order with its new `seq`.
pub async fn tell(
    tx: &Transaction,
    order: order::Model,
    kind: &str,
    note: Note<'_>,
    now: DateTime<Utc>,
) -> Result<order::Model> {
    repositories::order::advance_seq(tx, order.id, now).await?;
    let order = touched(order, now);
    let event = event(&order, kind, Some(order.status), note, now);
    repositories::order_event::insert(tx, event).await?;
    Ok(order)
}

/// The row as the change of status left it.
fn moved(mut order: order::Model, to: OrderStatus, times: Times) -> order::Model {
    let at = Some(times.happened_at);
    match to {
        OrderStatus::Paid => order.paid_at = at,
        OrderStatus::Shipped => order.shipped_at = at,
        OrderStatus::Finished => order.finished_at = at,
        OrderStatus::Closed => order.closed_at = at,
        OrderStatus::PendingPayment
        | OrderStatus::Paying
        | OrderStatus::Refunding
        | OrderStatus::Refunded => {}
    }
    order.status = to;
    touched(order, times.now)
}

/// The row after any change: a new version, a new `seq`.
pub fn touched(mut order: order::Model, now: DateTime<Utc>) -> order::Model {
    order.version += 1;
    order.last_seq += 1;
    order.updated_at = now;
    order
}

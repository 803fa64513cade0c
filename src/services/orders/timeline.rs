//! An order's history: its own events, merged with the callbacks of its gateway.

use chrono::{DateTime, Utc};
use entity::order::OrderStatus;
use entity::payment::PaymentStatus;
use entity::payment_callback::{self, Kind, Outcome};
use entity::{PaymentId, order_event, payment};
use serde::Serialize;
use utoipa::ToSchema;

use crate::services::api::schema;

/// What happened to an order, as far as it is still here.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Timeline {
    pub data: Vec<TimelineEntry>,
    /// Older entries went to the archive; operators find them there.
    pub archived: bool,
}

/// One entry, told apart by its `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TimelineEntry {
    Event(EventView),
    Callback(CallbackView),
}

/// One step of the order.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EventView {
    /// 1, 2, 3 … without gaps.
    pub seq: i64,
    #[serde(rename = "type")]
    pub event_type: String,
    #[schema(value_type = Option<schema::OrderStatus>)]
    pub from: Option<OrderStatus>,
    #[schema(value_type = schema::OrderStatus)]
    pub to: OrderStatus,
    /// `customer`, `operator`, `service`, `gateway` or the name of a job.
    pub actor: String,
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
    pub created_at: DateTime<Utc>,
}

/// One message of a gateway, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CallbackView {
    pub gateway: String,
    pub event_id: String,
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub message_type: Kind,
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// How often it came.
    pub deliveries: i32,
    #[schema(value_type = String)]
    pub payment_id: PaymentId,
    /// In minor units of `currency`.
    pub amount: i64,
    pub currency: String,
    /// By the gateway's clock.
    pub event_time: DateTime<Utc>,
    /// The gateway had told of something later before this message came.
    pub late: bool,
    pub created_at: DateTime<Utc>,
}

/// Merges callbacks and events in the order of their arrival.
pub fn merged(
    events: Vec<order_event::Model>,
    callbacks: Vec<payment_callback::Model>,
) -> Vec<TimelineEntry> {
    let mut newest = DateTime::<Utc>::MIN_UTC;
    let callbacks = callbacks.into_iter().map(|callback| {
        let late = callback.event_time < newest;
        newest = newest.max(callback.event_time);
        (
            callback.created_at,
            TimelineEntry::Callback(CallbackView::new(callback, late)),
        )
    });
    let callbacks: Vec<_> = callbacks.collect();
    let events = events
        .into_iter()
        .map(|event| (event.created_at, TimelineEntry::Event(event.into())));
    // The sort keeps equal times in this order: a message stands before what it caused.
    let mut entries: Vec<_> = callbacks.into_iter().chain(events).collect();
    entries.sort_by_key(|(at, _)| *at);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Whether entries were archived: the event with the `seq` 1 is missing, or money came and its callback is
/// missing.
pub fn is_archived(
    events: &[order_event::Model],
    callbacks: &[payment_callback::Model],
    payments: &[payment::Model],
) -> bool {
    let told_of = |payment: &payment::Model| {
        let mut messages = callbacks.iter();
        messages.any(|message| message.payment_id == payment.id && message.kind == Kind::Paid)
    };
    let paid = payments
        .iter()
        .filter(|payment| payment.status == PaymentStatus::Succeeded);
    events.first().is_none_or(|event| event.seq > 1) || !paid.into_iter().all(told_of)
}

impl From<order_event::Model> for EventView {
    fn from(event: order_event::Model) -> Self {
        Self {
            seq: event.seq,
            event_type: event.kind,
            from: event.from_status,
            to: event.to_status,
            actor: event.actor,
            payload: event.payload,
            created_at: event.created_at,
        }
    }
}

impl CallbackView {
    fn new(callback: payment_callback::Model, late: bool) -> Self {
        Self {
            gateway: callback.gateway,
            event_id: callback.event_id,
            message_type: callback.kind,
            outcome: callback.outcome,
            deliveries: callback.deliveries,
            payment_id: callback.payment_id,
            amount: callback.amount,
            currency: callback.currency,
            event_time: callback.event_time,
            late,
            created_at: callback.created_at,
        }
    }
}

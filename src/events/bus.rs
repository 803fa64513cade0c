//! The trait of an event bus, which brings each message to its consumers at least once, and the message itself.

use chrono::{DateTime, Utc};
use entity::OrderId;
use serde::{Deserialize, Serialize};

use crate::domain::events::Consumer;
use crate::error::Result;

/// An event of an order, on its way to the consumers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Unique for each message; two messages may still tell of the same fact.
    pub message_id: String,
    /// The id of the outbox row that the message was made of.
    pub event_id: i64,
    pub order_id: OrderId,
    pub seq: i64,
    #[serde(rename = "type")]
    pub kind: String,
    /// Which part of the order it is about: a refund, an attempt, or the event's own `seq`.
    pub subject: String,
    /// The order's status before the event; a name, as an older instance may not know the status.
    pub from: Option<String>,
    pub to: String,
    pub payload: serde_json::Value,
    pub created_at: DateTime<Utc>,
}

impl Message {
    /// The fact that it tells of: the same in every message about it.
    pub fn biz_key(&self) -> String {
        format!("{}:{}:{}", self.order_id, self.kind, self.subject)
    }
}

/// The message was not handed over, or it is unknown whether it was: it has to be published again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotHandedOver(pub String);

/// How messages travel. `take` lets one consumer act on a message: it returns `Ok` once the effect or its failure is
/// committed. After an error nothing is known to be committed, so the bus must deliver the message again.
pub trait Bus {
    /// Returns once the message is durably handed over to every consumer of its type.
    fn publish(
        &self,
        message: &Message,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> impl Future<Output = Result<(), NotHandedOver>>;

    /// Calls `take` for each message that arrives; never returns.
    fn deliver(
        &self,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> impl Future<Output = ()>;

    /// Why no message can be handed over now: the bus is `unreachable`, or `blocked` (it takes connections but confirms
    /// no message).
    fn trouble(&self) -> Option<&'static str>;
}

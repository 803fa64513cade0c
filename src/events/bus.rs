//! How a message reaches its consumers, at least once, whichever adapter brings it.

use chrono::{DateTime, Utc};
use entity::OrderId;
use serde::{Deserialize, Serialize};

use crate::domain::events::Consumer;
use crate::error::Result;

/// What happened to an order, on its way to those who act on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Differs between messages; two of them may tell of the same fact.
    pub message_id: String,
    /// The row of the outbox that it was made of.
    pub event_id: i64,
    pub order_id: OrderId,
    pub seq: i64,
    #[serde(rename = "type")]
    pub kind: String,
    /// What of the order it is about: a refund, an attempt, or the `seq`.
    pub subject: String,
    /// The order's status before, by its name: an older instance may not know it.
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

/// The message was not handed over, or nobody knows: it has to be published again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotHandedOver(pub String);

/// How messages travel. `take` acts on a message for one consumer: `Ok` once the effect or its
/// failure is committed; an error means that nothing is known to be, so it must come again.
pub trait Bus {
    /// Returns once the message is durably handed over to every consumer of its type.
    fn publish(
        &self,
        message: &Message,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> impl Future<Output = Result<(), NotHandedOver>>;

    /// Brings what arrives to `take`; never returns.
    fn deliver(
        &self,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> impl Future<Output = ()>;

    /// Why no message can be handed over now: it is `unreachable`, or `blocked` (it takes connections and confirms nothing).
    fn trouble(&self) -> Option<&'static str>;
}

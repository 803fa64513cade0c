//! What a request to place an order brings with it: its body and key, and the right to create one order.

use chrono::{DateTime, Utc};
use entity::{OrderId, UserId};

use crate::idempotency::IdempotentContext;
use crate::services::api::requests::NewOrder;

/// A request to place an order, with its idempotency key.
pub type Request = IdempotentContext<NewOrder>;

/// Which order a request may create, and until when.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub order_id: OrderId,
    pub buyer: UserId,
    /// `None` for a service's own key, which does not expire.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Ticket {
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|expiry| now >= expiry)
    }
}

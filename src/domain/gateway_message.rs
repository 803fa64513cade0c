//! What a gateway says, whichever way it said it: the one inner form of callbacks and queries.

use chrono::{DateTime, Utc};
use entity::payment_callback::Kind;
use entity::{OrderId, PaymentId};

/// One fact about an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayMessage {
    pub gateway: String,
    /// The same over all resends.
    pub event_id: String,
    pub kind: Kind,
    pub payment_id: PaymentId,
    /// The order as the message names it; `None` when it names none.
    pub order_id: Option<OrderId>,
    pub trade_no: String,
    /// Empty unless it is about a refund.
    pub refund_no: String,
    /// In minor units of `currency`.
    pub amount: i64,
    pub currency: String,
    pub event_time: DateTime<Utc>,
    /// As it came.
    pub raw: String,
}

impl GatewayMessage {
    /// The fact that it tells: a second event about the same thing has the same key.
    pub fn biz_key(&self) -> String {
        let payment = self.payment_id;
        match self.kind {
            Kind::Paid => format!("paid:{payment}:{}", self.trade_no),
            Kind::Closed => format!("closed:{payment}"),
            Kind::RefundSucceeded => format!("refund:{payment}:{}:succeeded", self.refund_no),
            Kind::RefundFailed => format!("refund:{payment}:{}:failed", self.refund_no),
            Kind::Failed | Kind::Ignored => self.event_key(),
        }
    }

    /// The key of a message that must not occupy the fact's.
    pub fn event_key(&self) -> String {
        format!("event:{}", self.event_id)
    }
}

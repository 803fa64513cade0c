//! The names of what happens to orders, and which consumers act on what.

use entity::order::OrderStatus;
use serde_json::Value;

pub const ORDER_PLACED: &str = "OrderPlaced";
pub const ORDER_PAID: &str = "OrderPaid";
pub const ORDER_SHIPPED: &str = "OrderShipped";
pub const ORDER_CLOSED: &str = "OrderClosed";
pub const ADDRESS_CHANGED: &str = "AddressChanged";
pub const REFUND_REQUESTED: &str = "RefundRequested";
pub const REFUND_SUCCEEDED: &str = "RefundSucceeded";
pub const REFUND_FAILED: &str = "RefundFailed";
/// An attempt is not wanted any more: it has to end at its gateway.
pub const PAYMENT_RETIRED: &str = "PaymentRetired";

/// The event that tells of an arrival in `status`.
pub const fn of_arrival(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::PendingPayment => ORDER_PLACED,
        OrderStatus::Paying => "PaymentStarted",
        OrderStatus::Paid => ORDER_PAID,
        OrderStatus::Shipped => ORDER_SHIPPED,
        OrderStatus::Finished => "OrderFinished",
        OrderStatus::Closed => ORDER_CLOSED,
        OrderStatus::Refunding => "RefundStarted",
        OrderStatus::Refunded => "OrderRefunded",
    }
}

/// What of the order an event is about: `{payment}:{refund_no}`, a payment's id, or its `seq`.
///
/// A number of a refund is unique within its payment only.
pub fn subject(payload: &Value, seq: i64) -> String {
    let text = |name: &str| payload[name].as_str();
    match (text("payment_id"), text("refund_no")) {
        (Some(payment), Some(refund_no)) => format!("{payment}:{refund_no}"),
        (Some(payment), None) => payment.to_owned(),
        (None, _) => seq.to_string(),
    }
}

/// Who acts on events; each acts once on each business fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consumer {
    LoyaltyPoints,
    Notifications,
    RefundExecution,
    AttemptClosing,
}

impl Consumer {
    pub const ALL: [Self; 4] = [
        Self::LoyaltyPoints,
        Self::Notifications,
        Self::RefundExecution,
        Self::AttemptClosing,
    ];

    /// The name in tables, metrics and queues.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LoyaltyPoints => "loyalty_points",
            Self::Notifications => "notifications",
            Self::RefundExecution => "refund_execution",
            Self::AttemptClosing => "attempt_closing",
        }
    }

    /// The consumer of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|consumer| consumer.name() == name)
    }

    /// The types of event that it acts on.
    pub const fn interests(self) -> &'static [&'static str] {
        match self {
            Self::LoyaltyPoints => &[ORDER_PAID, REFUND_SUCCEEDED],
            Self::Notifications => &[
                ORDER_PLACED,
                ORDER_PAID,
                ORDER_SHIPPED,
                ORDER_CLOSED,
                REFUND_REQUESTED,
                REFUND_SUCCEEDED,
                REFUND_FAILED,
            ],
            Self::RefundExecution => &[REFUND_REQUESTED],
            Self::AttemptClosing => &[PAYMENT_RETIRED],
        }
    }

    /// Those who act on events of this type.
    pub fn of(kind: &str) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |consumer| consumer.interests().contains(&kind))
    }
}

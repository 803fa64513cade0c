//! The names of what happens to orders: the `type` of an `order_event`.

use entity::order::OrderStatus;

pub const ORDER_PLACED: &str = "OrderPlaced";
pub const ADDRESS_CHANGED: &str = "AddressChanged";

/// The event that tells of an arrival in `status`.
pub const fn of_arrival(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::PendingPayment => ORDER_PLACED,
        OrderStatus::Paying => "PaymentStarted",
        OrderStatus::Paid => "OrderPaid",
        OrderStatus::Shipped => "OrderShipped",
        OrderStatus::Finished => "OrderFinished",
        OrderStatus::Closed => "OrderClosed",
        OrderStatus::Refunding => "RefundStarted",
        OrderStatus::Refunded => "OrderRefunded",
    }
}

pub const REFUND_REQUESTED: &str = "RefundRequested";
pub const REFUND_SUCCEEDED: &str = "RefundSucceeded";
pub const REFUND_FAILED: &str = "RefundFailed";

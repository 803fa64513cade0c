//! What a gateway's message means for an order, judged from what is there; no I/O.

use entity::order::{self, OrderStatus};
use entity::payment::{self, PaymentStatus, Role};
use entity::payment_callback::Kind;
use entity::refund::{self, RefundStatus};

use super::gateway_message::GatewayMessage;
use super::payment_flow::{self, Move};
use super::refund_flow;

/// What to do about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Amount, currency or order differ from ours: never booked.
    Mismatch,
    /// The attempt was paid a second time under another number.
    DoubleCharge,
    /// It tells nothing new.
    Stale,
    /// The attempt is paid; the role says whose money it is.
    Paid(Role),
    /// The attempt ended without money.
    Closed,
    /// The attempt failed; the buyer may try again.
    Failed,
    Refund(RefundVerdict),
}

/// What to do about a message on a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundVerdict {
    /// It waits: for its payment, or for the end of refunds that hold the room.
    Park,
    /// The refund succeeded under its own reservation.
    Succeed,
    /// It succeeded after it had failed: reserve again.
    SucceedAgain,
    /// Nobody here had asked: it is noted under the same cap.
    SucceedUnasked,
    Fail,
    /// Nobody here had asked, and it failed.
    FailUnasked,
    /// The gateway takes back that it refunded: only a person can tell.
    FailedLate,
    /// There is no room under the payment's amount, and nothing that could make some.
    OverRefund,
    Stale,
}

/// Judges what is not about a refund from the order and all its attempts.
pub fn judge(
    order: &order::Model,
    payments: &[payment::Model],
    payment: &payment::Model,
    message: &GatewayMessage,
) -> Verdict {
    if !fits(order, payment, message) {
        return Verdict::Mismatch;
    }
    match message.kind {
        Kind::Paid => paid(order, payments, payment, message),
        Kind::Closed if payment_flow::next(payment.status, Move::Close).is_some() => {
            Verdict::Closed
        }
        Kind::Failed if payment_flow::next(payment.status, Move::Fail).is_some() => Verdict::Failed,
        _ => Verdict::Stale,
    }
}

/// Judges what is about a refund from its payment and all refunds of that payment.
pub fn judge_refund(
    order: &order::Model,
    payment: &payment::Model,
    refunds: &[refund::Model],
    message: &GatewayMessage,
) -> Verdict {
    if !fits(order, payment, message) {
        return Verdict::Mismatch;
    }
    if payment.status != PaymentStatus::Succeeded {
        return Verdict::Refund(RefundVerdict::Park);
    }
    let Some(refund) = refunds
        .iter()
        .find(|refund| refund.refund_no == message.refund_no)
    else {
        return Verdict::Refund(unasked(payment, refunds, message));
    };
    if refund.amount != message.amount {
        return Verdict::Mismatch;
    }
    Verdict::Refund(known(payment, refunds, refund, message))
}

/// Whether an unpaid order ends now that `ended` is no longer open.
pub fn ends_order(
    order: &order::Model,
    payments: &[payment::Model],
    ended: &payment::Model,
) -> bool {
    order.is_unpaid()
        && payments
            .iter()
            .all(|payment| payment.id == ended.id || !payment.is_open())
}

/// A paid amount must be the attempt's, a refund's may be less; nothing is compared where the
/// message carries no money.
fn fits(order: &order::Model, payment: &payment::Model, message: &GatewayMessage) -> bool {
    let amount = match message.kind {
        Kind::Paid => message.amount == payment.amount,
        Kind::RefundSucceeded | Kind::RefundFailed => {
            message.amount > 0 && message.amount <= payment.amount
        }
        Kind::Closed | Kind::Failed | Kind::Ignored => true,
    };
    let order_fits = message.order_id.is_none_or(|id| id == order.id);
    amount
        && order_fits
        && message.gateway == payment.gateway
        && message.currency == payment.currency
}

fn paid(
    order: &order::Model,
    payments: &[payment::Model],
    payment: &payment::Model,
    message: &GatewayMessage,
) -> Verdict {
    if payment.status == PaymentStatus::Succeeded {
        return if payment.trade_no == message.trade_no {
            Verdict::Stale
        } else {
            Verdict::DoubleCharge
        };
    }
    let booked = payments.iter().any(|other| other.role == Role::Booked);
    let unpaid = matches!(
        order.status,
        OrderStatus::PendingPayment | OrderStatus::Paying
    );
    Verdict::Paid(if unpaid && !booked {
        Role::Booked
    } else {
        Role::Surplus
    })
}

fn known(
    payment: &payment::Model,
    refunds: &[refund::Model],
    refund: &refund::Model,
    message: &GatewayMessage,
) -> RefundVerdict {
    let succeeded = message.kind == Kind::RefundSucceeded;
    let action = if succeeded {
        refund_flow::Move::Succeed
    } else {
        refund_flow::Move::Fail
    };
    match refund_flow::next(refund.status, action) {
        Some(_) if !succeeded => RefundVerdict::Fail,
        Some(_) if refund.status == RefundStatus::Failed => {
            room(payment, refunds, message).unwrap_or(RefundVerdict::SucceedAgain)
        }
        Some(_) => RefundVerdict::Succeed,
        None if !succeeded && refund.status == RefundStatus::Succeeded => RefundVerdict::FailedLate,
        None => RefundVerdict::Stale,
    }
}

fn unasked(
    payment: &payment::Model,
    refunds: &[refund::Model],
    message: &GatewayMessage,
) -> RefundVerdict {
    if message.kind == Kind::RefundFailed {
        return RefundVerdict::FailUnasked;
    }
    room(payment, refunds, message).unwrap_or(RefundVerdict::SucceedUnasked)
}

/// `None` when the payment has room for the refund.
fn room(
    payment: &payment::Model,
    refunds: &[refund::Model],
    message: &GatewayMessage,
) -> Option<RefundVerdict> {
    if message.amount <= payment.amount - payment.refunded_amount {
        None
    } else if refunds.iter().any(refund::Model::is_unconfirmed) {
        Some(RefundVerdict::Park)
    } else {
        Some(RefundVerdict::OverRefund)
    }
}

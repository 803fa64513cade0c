//! Carrying out a verdict: it moves the attempt and the order, and raises alerts.

use entity::payment::{PaymentStatus, Role};
use entity::payment_callback::Outcome;
use serde_json::json;

use super::case::{ACTOR, Case, expect_changed};
use super::refunds;
use crate::domain::gateway_message::GatewayMessage;
use crate::domain::order_flow::Move;
use crate::domain::settlement::{RefundVerdict, Verdict, ends_order};
use crate::error::Result;
use crate::repositories;
use crate::repositories::payment::Money;
use crate::services::operations::alerts;
use crate::services::orders::order_status::Note;
use crate::services::orders::{close_order, order_status};
use crate::services::payments::retire_attempts;

/// The outcome that the message's record notes for a verdict.
pub const fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Mismatch | Verdict::Refund(RefundVerdict::OverRefund) => Outcome::Refused,
        Verdict::Stale
        | Verdict::DoubleCharge
        | Verdict::Refund(RefundVerdict::Stale | RefundVerdict::FailedLate) => Outcome::Stale,
        Verdict::Refund(RefundVerdict::Park) => Outcome::Parked,
        Verdict::Paid(_) | Verdict::Closed | Verdict::Failed | Verdict::Refund(_) => {
            Outcome::Applied
        }
    }
}

/// Carries out a verdict whose record is written already, in the same transaction.
pub async fn apply(case: &mut Case<'_>, verdict: Verdict, message: &GatewayMessage) -> Result<()> {
    let payment = message.payment_id.to_string();
    match verdict {
        Verdict::Stale => Ok(()),
        Verdict::Mismatch => {
            let detail = "amount, currency or order of a signed message are not ours";
            case.alert(alerts::Kind::PaymentMismatch, &payment, detail)
                .await
        }
        Verdict::DoubleCharge => {
            let detail = "the attempt was paid again under another number of the gateway";
            case.alert(alerts::Kind::DoubleCharge, &payment, detail)
                .await
        }
        Verdict::Paid(role) => paid(case, role, message).await,
        Verdict::Closed => closed(case).await,
        Verdict::Failed => ended(case, PaymentStatus::Failed).await,
        Verdict::Refund(verdict) => refunds::apply(case, verdict, message).await,
    }
}

async fn paid(case: &mut Case<'_>, role: Role, message: &GatewayMessage) -> Result<()> {
    let (tx, now) = (case.tx, case.now);
    let paid_at = message.event_time;
    let money = Money {
        role,
        trade_no: &message.trade_no,
        paid_at,
    };
    expect_changed(repositories::payment::succeed(tx, case.payment(), money, now).await)?;
    let payment = case.payment_mut();
    payment.status = PaymentStatus::Succeeded;
    payment.role = role;
    payment.trade_no.clone_from(&message.trade_no);
    retire_others(case).await?;
    if role == Role::Booked {
        let payload = json!({ "payment_id": message.payment_id, "amount": message.amount });
        let note = Note {
            happened_at: Some(paid_at),
            ..Note::new(ACTOR, payload)
        };
        let order = case.order.clone();
        case.order = order_status::change(tx, order, Move::Pay, note, now).await?;
    }
    Ok(())
}

/// Retires all other open attempts of an order that is paid: each has to end at its gateway.
async fn retire_others(case: &mut Case<'_>) -> Result<()> {
    let order = case.order.clone();
    case.order = retire_attempts::retire(case.tx, order, &case.payments, ACTOR, case.now).await?;
    Ok(())
}

async fn closed(case: &mut Case<'_>) -> Result<()> {
    ended(case, PaymentStatus::Closed).await?;
    if ends_order(&case.order, &case.payments, case.payment()) {
        let note = Note::new(ACTOR, json!({ "payment_id": case.payment().id }));
        let order = case.order.clone();
        case.order = close_order::close(case.tx, order, &case.payments, note, case.now).await?;
    }
    Ok(())
}

async fn ended(case: &mut Case<'_>, to: PaymentStatus) -> Result<()> {
    let moved = repositories::payment::move_to(case.tx, case.payment(), to, case.now).await;
    expect_changed(moved)?;
    case.payment_mut().status = to;
    Ok(())
}

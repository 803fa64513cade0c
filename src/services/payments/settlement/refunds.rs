//! Carrying out a verdict on a message about a refund.

use entity::payment::Role;
use entity::refund::{self, Origin, RefundStatus};
use entity::{PaymentId, RefundId};
use serde_json::{Value, json};

use super::case::{ACTOR, Case, expect_changed};
use crate::domain::events::{REFUND_FAILED, REFUND_REQUESTED, REFUND_SUCCEEDED};
use crate::domain::gateway_message::GatewayMessage;
use crate::domain::order_flow::Move;
use crate::domain::settlement::RefundVerdict;
use crate::error::Result;
use crate::repositories;
use crate::services::operations::alerts;
use crate::services::orders::close_order;
use crate::services::orders::order_status::{self, Note};
use entity::order::OrderStatus;

/// Carries out a verdict on a message about a refund.
pub async fn apply(
    case: &mut Case<'_>,
    verdict: RefundVerdict,
    message: &GatewayMessage,
) -> Result<()> {
    match verdict {
        RefundVerdict::Park => park(case).await,
        RefundVerdict::Stale => Ok(()),
        RefundVerdict::Succeed => {
            moved(case, message, RefundStatus::Succeeded).await?;
            succeeded(case, message).await
        }
        RefundVerdict::SucceedAgain => {
            reserve(case, message.amount).await?;
            moved(case, message, RefundStatus::Succeeded).await?;
            succeeded(case, message).await
        }
        RefundVerdict::SucceedUnasked => {
            let refund = blank(case, &message.refund_no, message.amount);
            insert(case, refund).await?;
            succeeded(case, message).await
        }
        RefundVerdict::Fail => failed(case, message).await,
        RefundVerdict::FailUnasked => {
            let refund = refund::Model {
                status: RefundStatus::Failed,
                ..blank(case, &message.refund_no, message.amount)
            };
            insert(case, refund).await
        }
        RefundVerdict::FailedLate => {
            let detail = "the gateway says that a refund failed which had succeeded";
            case.alert(alerts::Kind::RefundReversed, &subject(message), detail)
                .await
        }
        RefundVerdict::OverRefund => {
            let detail =
                "the gateway tells of a refund that is more than what is left of the payment";
            case.alert(
                alerts::Kind::OverRefund,
                &message.payment_id.to_string(),
                detail,
            )
            .await
        }
    }
}

/// The callback is parked: it waits for another message about the same attempt.
async fn park(case: &mut Case<'_>) -> Result<()> {
    let (id, now) = (case.payment().id, case.now);
    case.payment_mut().parked += 1;
    expect_changed(repositories::payment::add_parked(case.tx, id, 1, now).await)
}

/// Makes the automatic refund of surplus money. It exists once, because its number is made of the payment's id.
pub async fn give_surplus_back(case: &mut Case<'_>) -> Result<()> {
    let payment = case.payment();
    let (id, rest) = (payment.id, payment.amount - payment.refunded_amount);
    let detail = "money came for an order that was paid or closed; what is left of it goes back";
    case.alert(alerts::Kind::SurplusPayment, &id.to_string(), detail)
        .await?;
    if rest == 0 {
        return Ok(());
    }
    let refund = refund::Model {
        origin: Origin::Automatic,
        reason: "surplus payment".to_owned(),
        status: RefundStatus::Requested,
        settled_at: None,
        ..blank(case, &automatic_no(id), rest)
    };
    insert(case, refund).await?;
    let payload = told(case, &automatic_no(id), rest);
    case.tell(REFUND_REQUESTED, payload).await
}

/// The number of a payment's automatic refund.
pub fn automatic_no(payment: PaymentId) -> String {
    format!("auto-{payment}")
}

/// Books a refund that succeeded; the order is refunded once the whole amount of its booked payment has gone back.
async fn succeeded(case: &mut Case<'_>, message: &GatewayMessage) -> Result<()> {
    let total = succeeded_sum(case.refunds().await?);
    let before = case.order.refunded_amount;
    if case.payment().role == Role::Booked {
        repositories::order::set_refunded(case.tx, case.order.id, total).await?;
        case.order.refunded_amount = total;
    }
    let mut payload = told(case, &message.refund_no, message.amount);
    payload["refunded_before"] = before.into();
    case.tell(REFUND_SUCCEEDED, payload).await?;
    if case.payment().role == Role::Booked && total == case.payment().amount {
        refund_order(case).await?;
    }
    Ok(())
}

/// Moves the order to REFUNDED; from PAID that takes two moves and two events.
async fn refund_order(case: &mut Case<'_>) -> Result<()> {
    let note = || Note::new(ACTOR, json!({}));
    let (tx, now) = (case.tx, case.now);
    let mut order = case.order.clone();
    if order.status != OrderStatus::Refunding {
        order = order_status::change(tx, order, Move::BeginRefund, note(), now).await?;
    }
    order = order_status::change(tx, order, Move::Refund, note(), now).await?;
    if order.shipped_at.is_none() {
        close_order::restore_stock(tx, order.id, now).await?;
    }
    case.order = order;
    Ok(())
}

/// Notes that a refund failed for good, releases its reservation in the same transaction, and raises an alert.
async fn failed(case: &mut Case<'_>, message: &GatewayMessage) -> Result<()> {
    moved(case, message, RefundStatus::Failed).await?;
    let (id, now) = (case.payment().id, case.now);
    let released = repositories::payment::release(case.tx, id, message.amount, now).await;
    expect_changed(released)?;
    case.payment_mut().refunded_amount -= message.amount;
    let payload = told(case, &message.refund_no, message.amount);
    case.tell(REFUND_FAILED, payload).await?;
    let detail = "a refund failed for good; the customer still waits for his money";
    case.alert(alerts::Kind::RefundFailed, &subject(message), detail)
        .await
}

async fn moved(case: &mut Case<'_>, message: &GatewayMessage, to: RefundStatus) -> Result<()> {
    let (tx, now) = (case.tx, case.now);
    let refunds = case.refunds().await?;
    if let Some(refund) = refunds
        .iter_mut()
        .find(|known| known.refund_no == message.refund_no)
    {
        expect_changed(repositories::refund::move_to(tx, refund, to, now).await)?;
        refund.status = to;
    }
    Ok(())
}

/// Inserts a refund and, unless it has failed, reserves its amount of the payment.
async fn insert(case: &mut Case<'_>, mut refund: refund::Model) -> Result<()> {
    refund.id = repositories::refund::insert(case.tx, &refund).await?;
    if refund.status != RefundStatus::Failed {
        reserve(case, refund.amount).await?;
    }
    case.refunds().await?.push(refund);
    Ok(())
}

async fn reserve(case: &mut Case<'_>, amount: i64) -> Result<()> {
    let (id, now) = (case.payment().id, case.now);
    expect_changed(repositories::payment::reserve(case.tx, id, amount, now).await)?;
    case.payment_mut().refunded_amount += amount;
    Ok(())
}

/// The row of a refund that the gateway told of, as one that succeeded.
fn blank(case: &Case<'_>, refund_no: &str, amount: i64) -> refund::Model {
    refund::Model {
        id: RefundId(0),
        refund_no: refund_no.to_owned(),
        payment_id: case.payment().id,
        order_id: case.order.id,
        amount,
        currency: case.payment().currency.clone(),
        reason: "told by the gateway".to_owned(),
        status: RefundStatus::Succeeded,
        origin: Origin::Gateway,
        asks: 0,
        next_ask_at: case.now,
        created_at: case.now,
        updated_at: case.now,
        settled_at: Some(case.now),
    }
}

fn succeeded_sum(refunds: &[refund::Model]) -> i64 {
    let succeeded = refunds
        .iter()
        .filter(|refund| refund.status == RefundStatus::Succeeded);
    succeeded.map(|refund| refund.amount).sum()
}

/// The payload of an event about a refund: totals, so that consumers do not depend on the order of arrival.
fn told(case: &Case<'_>, refund_no: &str, amount: i64) -> Value {
    json!({
        "refund_no": refund_no,
        "payment_id": case.payment().id,
        "amount": amount,
        "paid": case.order.amount,
        "refunded": case.order.refunded_amount,
    })
}

fn subject(message: &GatewayMessage) -> String {
    format!("{}:{}", message.payment_id, message.refund_no)
}

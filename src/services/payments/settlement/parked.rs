//! Parked (pending) callbacks: messages that came before what they tell of, such as a refund before its payment. A
//! later payment or refund message about the same attempt has them judged again.

use entity::payment_callback::{self, Outcome};

use super::case::{Case, expect_changed, row};
use super::verdicts;
use crate::domain::gateway_message::GatewayMessage;
use crate::domain::settlement::{RefundVerdict, Verdict};
use crate::error::Result;
use crate::repositories;

/// Judges the parked callbacks again if `verdict` may have ended their wait, until none of them can be settled any more.
pub async fn judge_again(case: &mut Case<'_>, verdict: Verdict) -> Result<()> {
    let is_nothing_new = match verdict {
        Verdict::Paid(_) => false,
        Verdict::Refund(verdict) => verdict == RefundVerdict::Park,
        _ => true,
    };
    if is_nothing_new {
        return Ok(());
    }
    while case.payment().parked > 0 {
        let waiting = repositories::payment_callback::parked(case.tx, case.payment().id).await?;
        let mut judged = false;
        for callback in waiting {
            judged |= judge_one(case, callback).await?;
        }
        if !judged {
            break;
        }
    }
    Ok(())
}

/// Judges one parked callback again; true when it waits no more.
async fn judge_one(case: &mut Case<'_>, callback: payment_callback::Model) -> Result<bool> {
    let message = message_of(&callback, case);
    let verdict = case.judge(&message).await?;
    let outcome = verdicts::outcome(verdict);
    if outcome == Outcome::Parked {
        return Ok(false);
    }
    let judged = row(&message, case.order.id, outcome, case.now);
    let written = repositories::payment_callback::judge_again(case.tx, &callback, &judged).await;
    expect_changed(written)?;
    let id = case.payment().id;
    expect_changed(repositories::payment::add_parked(case.tx, id, -1, case.now).await)?;
    case.payment_mut().parked -= 1;
    verdicts::apply(case, verdict, &message).await?;
    Ok(true)
}

/// The message that a parked record keeps.
fn message_of(callback: &payment_callback::Model, case: &Case<'_>) -> GatewayMessage {
    GatewayMessage {
        gateway: callback.gateway.clone(),
        event_id: callback.event_id.clone(),
        kind: callback.kind,
        payment_id: callback.payment_id,
        order_id: Some(case.order.id),
        trade_no: callback.trade_no.clone(),
        refund_no: callback.refund_no.clone(),
        amount: callback.amount,
        currency: callback.currency.clone(),
        event_time: callback.event_time,
        raw: callback.raw.clone(),
    }
}

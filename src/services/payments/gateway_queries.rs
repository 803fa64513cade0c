//! Queries to a gateway: how an attempt stands, or to end it. The answer is settled like a callback.

use chrono::{DateTime, TimeDelta, Utc};
use entity::payment::{self, PaymentStatus};
use entity::payment_callback::{Kind, Outcome};

use super::settlement;
use crate::app::App;
use crate::domain::gateway_message::GatewayMessage;
use crate::error::Result;
use crate::gateways::{Silence, Standing};

/// Seconds between queries about the same attempt or refund; the last pause holds for all that follow.
const PAUSES: [i64; 8] = [5, 15, 60, 300, 900, 3_600, 7_200, 21_600];

/// How long our call that opens an attempt may be on its way; until then "not found" is no answer.
const OPENING: TimeDelta = TimeDelta::minutes(1);

/// What a gateway said of an attempt, once it is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Paid,
    /// It brings no money any more.
    Ended,
    /// The buyer may still pay.
    Open,
    /// The gateway did not answer: the state is unknown, so it is queried again.
    Silent,
}

/// Asks how an attempt stands. One that the gateway does not know brings no money once its time is over.
pub async fn ask(app: &App, payment: &payment::Model) -> Result<Told> {
    let answer = app.gateway(&payment.gateway)?.query(payment).await;
    let is_over = payment.expires_at <= app.clock.now();
    let answer = match answer {
        Ok(Standing::NotFound) if !is_over => Ok(Standing::Open),
        other => other,
    };
    settle(app, payment, answer).await
}

/// Asks the gateway to end an attempt, which it refuses when the attempt is paid.
pub async fn end(app: &App, payment: &payment::Model) -> Result<Told> {
    let answer = app.gateway(&payment.gateway)?.close(payment).await;
    let is_young = app.clock.now() - payment.created_at < OPENING;
    let answer = match answer {
        Ok(Standing::NotFound) if payment.status == PaymentStatus::Created && is_young => {
            Err(Silence)
        }
        other => other,
    };
    settle(app, payment, answer).await
}

/// When to repeat a query that was made `asks` times before.
pub fn next_ask(asks: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let at = usize::try_from(asks).unwrap_or_default();
    now + TimeDelta::seconds(PAUSES[at.min(PAUSES.len() - 1)])
}

/// When to repeat a query about an attempt whose time was over at `since`: after half as long as it has been over.
pub fn next_ask_after(since: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    let longest = TimeDelta::seconds(PAUSES[PAUSES.len() - 1]);
    now + ((now - since) / 2).clamp(TimeDelta::seconds(PAUSES[0]), longest)
}

async fn settle(
    app: &App,
    payment: &payment::Model,
    standing: Result<Standing, Silence>,
) -> Result<Told> {
    let now = app.clock.now();
    let (message, told) = match standing {
        Ok(Standing::Paid {
            trade_no,
            amount,
            currency,
            paid_at,
        }) => {
            let paid = GatewayMessage {
                amount,
                currency,
                event_time: paid_at,
                trade_no: trade_no.clone(),
                ..answer(payment, Kind::Paid, &trade_no, now)
            };
            (paid, Told::Paid)
        }
        // The gateway never heard of an attempt that was retired before it was opened: no money can come.
        Ok(Standing::Closed | Standing::NotFound) => {
            (answer(payment, Kind::Closed, "", now), Told::Ended)
        }
        Ok(Standing::Open) => return Ok(Told::Open),
        Err(Silence) => return Ok(Told::Silent),
    };
    // An answer that contradicts our books raises an alert, and the attempt stays as it is.
    Ok(
        match settlement::settle(app, payment.order_id, &message).await? {
            Outcome::Refused => Told::Silent,
            _ => told,
        },
    )
}

/// What a gateway answered, in the form of a callback, under an event id of its own.
pub fn answer(
    payment: &payment::Model,
    kind: Kind,
    number: &str,
    now: DateTime<Utc>,
) -> GatewayMessage {
    let name = match kind {
        Kind::Paid => "paid",
        Kind::Closed => "closed",
        Kind::Failed => "failed",
        Kind::RefundSucceeded => "refund_succeeded",
        Kind::RefundFailed => "refund_failed",
        Kind::Ignored => "ignored",
    };
    GatewayMessage {
        gateway: payment.gateway.clone(),
        event_id: format!("query:{}:{name}:{number}", payment.id),
        kind,
        payment_id: payment.id,
        order_id: Some(payment.order_id),
        trade_no: String::new(),
        refund_no: String::new(),
        amount: payment.amount,
        currency: payment.currency.clone(),
        event_time: now,
        raw: String::new(),
    }
}

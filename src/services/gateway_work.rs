//! What has to be done at gateways, outside any transaction: close attempts, send refunds.
//!
//! Each is asked for under our own id, so asking twice changes nothing there; what the gateway says
//! is settled by the very function that settles callbacks. A crash anywhere leaves the row due.

use chrono::{DateTime, TimeDelta, Utc};
use entity::payment_callback::Kind;
use entity::refund::RefundStatus;
use entity::{PaymentId, payment, refund};
use sea_orm::DatabaseTransaction;

use super::settlement;
use crate::app::App;
use crate::domain::gateway_message::GatewayMessage;
use crate::error::{Error, Result};
use crate::gateways::{PaymentGateway, RefundStanding, Standing};
use crate::repositories;

/// How many are taken up in one run.
const BATCH: u64 = 100;
/// Seconds between questions about the same thing; the last holds for all that follow.
const PAUSES: [i64; 8] = [5, 15, 60, 300, 900, 3_600, 7_200, 21_600];

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub asked: usize,
    /// The gateway did not say; it is asked again.
    pub unknown: usize,
}

/// A call that a consumer's committed row asks for.
#[derive(Debug, Clone)]
pub enum Errand {
    SendRefund(refund::Model),
    CloseAttempt(payment::Model),
}

/// Takes up a refund that was just asked for; `None` when somebody is at it already.
///
/// REQUESTED → PROCESSING in the caller's transaction; the call follows its commit.
pub async fn take_up_refund(
    tx: &DatabaseTransaction,
    payment: PaymentId,
    refund_no: &str,
    now: DateTime<Utc>,
) -> Result<Option<Errand>> {
    let refund = repositories::refund::by_number(tx, payment, refund_no).await?;
    let refund = refund.ok_or_else(|| Error::Internal("a refund that is not there".to_owned()))?;
    let is_new = refund.status == RefundStatus::Requested;
    let again = next_ask(refund.asks, now);
    let taken = is_new && repositories::refund::note_ask(tx, &refund, again).await?;
    Ok(taken.then_some(Errand::SendRefund(refund)))
}

/// Takes up an attempt that was just retired; `None` when somebody is at it already.
pub async fn take_up_attempt(
    tx: &DatabaseTransaction,
    payment: PaymentId,
    now: DateTime<Utc>,
) -> Result<Option<Errand>> {
    let payment = repositories::payment::find(tx, payment).await?;
    let payment =
        payment.ok_or_else(|| Error::Internal("an attempt that is not there".to_owned()))?;
    let is_new = payment.is_open() && payment.asks == 0;
    let again = next_ask(payment.asks, now);
    let taken = is_new && repositories::payment::note_ask(tx, &payment, again).await?;
    Ok(taken.then_some(Errand::CloseAttempt(payment)))
}

/// Calls the gateway and settles what it says; true when it said how it ended.
pub async fn run(app: &App, errand: &Errand) -> Result<bool> {
    match errand {
        Errand::SendRefund(refund) => send_refund(app, refund).await,
        Errand::CloseAttempt(payment) => close_attempt(app, payment).await,
    }
}

/// Sends refunds whose end is not known, with the same number each time.
pub async fn send_refunds(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    for refund in repositories::refund::due(app.db.read(), now, BATCH).await? {
        let again = next_ask(refund.asks, now);
        if !repositories::refund::note_ask(app.db.write(), &refund, again).await? {
            continue;
        }
        done.asked += 1;
        if !send_refund(app, &refund).await? {
            done.unknown += 1;
        }
    }
    Ok(done)
}

/// Ends attempts whose end was asked for; one that is paid after all is settled as paid.
pub async fn close_attempts(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    for payment in repositories::payment::due_to_close(app.db.read(), now, BATCH).await? {
        let again = next_ask(payment.asks, now);
        if !repositories::payment::note_ask(app.db.write(), &payment, again).await? {
            continue;
        }
        done.asked += 1;
        if !close_attempt(app, &payment).await? {
            done.unknown += 1;
        }
    }
    Ok(done)
}

/// True when the gateway said how it ended.
async fn send_refund(app: &App, refund: &refund::Model) -> Result<bool> {
    let payment = repositories::payment::find(app.db.read(), refund.payment_id).await?;
    let payment = payment.ok_or_else(|| Error::Internal("a refund without payment".to_owned()))?;
    let kind = match app.sandbox()?.refund(&payment, refund).await {
        Ok(RefundStanding::Succeeded) => Kind::RefundSucceeded,
        Ok(RefundStanding::Failed) => Kind::RefundFailed,
        Ok(RefundStanding::Processing) | Err(_) => return Ok(false),
    };
    let message = GatewayMessage {
        refund_no: refund.refund_no.clone(),
        amount: refund.amount,
        ..answer(&payment, kind, &refund.refund_no, app.clock.now())
    };
    settlement::settle(app, payment.order_id, &message).await?;
    Ok(true)
}

async fn close_attempt(app: &App, payment: &payment::Model) -> Result<bool> {
    let now = app.clock.now();
    let message = match app.sandbox()?.close(payment).await {
        Ok(Standing::Paid {
            trade_no,
            amount,
            currency,
            paid_at,
        }) => GatewayMessage {
            amount,
            currency,
            event_time: paid_at,
            trade_no: trade_no.clone(),
            ..answer(payment, Kind::Paid, &trade_no, now)
        },
        // What it never heard of cannot bring money: the attempt was retired before it was opened.
        Ok(Standing::Closed | Standing::NotFound) => answer(payment, Kind::Closed, "", now),
        Ok(Standing::Open) | Err(_) => return Ok(false),
    };
    settlement::settle(app, payment.order_id, &message).await?;
    Ok(true)
}

/// What a gateway answered, in the form of a callback, under an event id of its own.
fn answer(
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

fn next_ask(asks: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let at = usize::try_from(asks)
        .unwrap_or_default()
        .min(PAUSES.len() - 1);
    now + TimeDelta::seconds(PAUSES[at])
}

//! Calls that change something at a gateway, made outside any transaction: ending attempts and sending refunds.
//!
//! Each call carries our own id, so a second call changes nothing at the gateway. The function that settles
//! callbacks also settles the answer. After a crash the row is still due, and a later run makes the call again.

use chrono::{DateTime, TimeDelta, Utc};
use entity::payment_callback::Kind;
use entity::refund::RefundStatus;
use entity::{OrderId, PaymentId, payment, refund};
use log::warn;

use super::gateway_queries::{self, Told};
use super::settlement;
use crate::app::App;
use crate::database::{Refusal, Transaction};
use crate::domain::gateway_message::GatewayMessage;
use crate::error::{Error, Result};
use crate::gateways::RefundStanding;
use crate::repositories;
use crate::services::operations::alerts;

/// How many refunds, or attempts, one run takes up.
const BATCH: u64 = 100;
/// How long a gateway may leave a payment or refund without an end before an alert is raised.
const PATIENCE: TimeDelta = TimeDelta::hours(3);

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub asked: usize,
    /// Calls that the gateway did not answer with an end; a later run repeats them.
    pub unknown: usize,
}

/// A call that a consumer's committed row asks for.
#[derive(Debug, Clone)]
pub enum GatewayCall {
    SendRefund(refund::Model),
    CloseAttempt(payment::Model),
}

/// Takes up a refund that was just asked for; `None` when another instance has taken it up.
///
/// REQUESTED → PROCESSING in the caller's transaction; the call follows its commit.
pub async fn take_up_refund(
    tx: &Transaction,
    payment: PaymentId,
    refund_no: &str,
    now: DateTime<Utc>,
) -> Result<Option<GatewayCall>> {
    let refund = repositories::refund::by_number(tx, payment, refund_no).await?;
    let refund = refund.ok_or_else(|| Error::Internal("a refund that is not there".to_owned()))?;
    let is_new = refund.status == RefundStatus::Requested;
    let again = gateway_queries::next_ask(refund.asks, now);
    let taken = is_new && repositories::refund::note_ask(tx, &refund, again).await?;
    Ok(taken.then_some(GatewayCall::SendRefund(refund)))
}

/// Takes up an attempt that was just retired; `None` when another instance has taken it up.
pub async fn take_up_attempt(
    tx: &Transaction,
    payment: PaymentId,
    now: DateTime<Utc>,
) -> Result<Option<GatewayCall>> {
    let payment = repositories::payment::find(tx, payment).await?;
    let payment =
        payment.ok_or_else(|| Error::Internal("an attempt that is not there".to_owned()))?;
    let is_new = payment.is_open() && payment.asks == 0;
    let again = gateway_queries::next_ask(payment.asks, now);
    let taken = is_new && repositories::payment::note_ask(tx, &payment, again).await?;
    Ok(taken.then_some(GatewayCall::CloseAttempt(payment)))
}

/// Calls the gateway and settles its answer; true when the refund or attempt has come to its end.
pub async fn run(app: &App, call: &GatewayCall) -> Result<bool> {
    match call {
        GatewayCall::SendRefund(refund) => send_refund(app, refund).await,
        GatewayCall::CloseAttempt(payment) => is_ended(app, payment).await,
    }
}

/// Sends refunds whose end is not known, with the same number each time.
pub async fn send_refunds(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    for refund in repositories::refund::due(app.db.read(), now, BATCH).await? {
        if app.is_stopping() {
            break;
        }
        let again = gateway_queries::next_ask(refund.asks, now);
        if !repositories::refund::note_ask(app.db.write(), &refund, again).await? {
            continue;
        }
        done.asked += 1;
        if !or_unknown(send_refund(app, &refund).await, refund.order_id, false)? {
            done.unknown += 1;
            let subject = format!("{}:{}", refund.payment_id, refund.refund_no);
            tell_of_silence(app, refund.order_id, &subject, refund.created_at).await?;
        }
    }
    Ok(done)
}

/// Ends retired attempts at their gateways; one that turns out to be paid is settled as paid.
pub async fn close_attempts(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    for payment in repositories::payment::due_to_close(app.db.read(), now, BATCH).await? {
        if app.is_stopping() {
            break;
        }
        let again = gateway_queries::next_ask(payment.asks, now);
        if !repositories::payment::note_ask(app.db.write(), &payment, again).await? {
            continue;
        }
        done.asked += 1;
        if !or_unknown(is_ended(app, &payment).await, payment.order_id, false)? {
            done.unknown += 1;
            let since = payment.close_requested_at.unwrap_or(payment.expires_at);
            let subject = payment.id.to_string();
            tell_of_silence(app, payment.order_id, &subject, since).await?;
        }
    }
    Ok(done)
}

/// Keeps one order's failure from ending the run: it is logged, and the result is `unknown`. Only a database that is
/// away or busy ends the run with its error.
pub fn or_unknown<T>(result: Result<T>, order: OrderId, unknown: T) -> Result<T> {
    match result {
        Err(error) if !error.is_passing() => {
            warn!(order:% = order, cause = error.cause(); "a call to a gateway failed; a later run repeats it");
            Ok(unknown)
        }
        other => other,
    }
}

/// Sends one refund; true when the gateway said how it ended.
async fn send_refund(app: &App, refund: &refund::Model) -> Result<bool> {
    let payment = repositories::payment::find(app.db.read(), refund.payment_id).await?;
    let payment = payment.ok_or_else(|| Error::Internal("a refund without payment".to_owned()))?;
    let kind = match app
        .gateway(&payment.gateway)?
        .refund(&payment, refund)
        .await
    {
        Ok(RefundStanding::Succeeded) => Kind::RefundSucceeded,
        Ok(RefundStanding::Failed) => Kind::RefundFailed,
        Ok(RefundStanding::Processing) | Err(_) => return Ok(false),
    };
    let message = GatewayMessage {
        refund_no: refund.refund_no.clone(),
        amount: refund.amount,
        ..gateway_queries::answer(&payment, kind, &refund.refund_no, app.clock.now())
    };
    settlement::settle(app, payment.order_id, &message).await?;
    Ok(true)
}

/// Ends one attempt; true when it cannot bring money any more, or has brought it.
async fn is_ended(app: &App, payment: &payment::Model) -> Result<bool> {
    let told = gateway_queries::end(app, payment).await?;
    Ok(matches!(told, Told::Paid | Told::Ended))
}

/// Raises one alert when a gateway has not said for hours how a payment or refund ended; we go on asking it.
pub async fn tell_of_silence(
    app: &App,
    order: OrderId,
    subject: &str,
    since: DateTime<Utc>,
) -> Result<()> {
    let now = app.clock.now();
    if now - since < PATIENCE {
        return Ok(());
    }
    let detail = "a gateway has not said for hours how this ended; it is asked on, ask it yourself";
    let about = (order, detail);
    app.db
        .transaction(async |tx| {
            alerts::raise(tx, alerts::Kind::GatewaySilent, subject, about, now).await
        })
        .await
}

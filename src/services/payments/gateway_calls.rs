//! What has to be done at gateways, outside any transaction: close attempts, send refunds.
//!
//! Each is asked for under our own id, so asking twice changes nothing there; what the gateway says
//! is settled by the very function that settles callbacks. A crash anywhere leaves the row due.

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

/// How many are taken up in one run.
const BATCH: u64 = 100;
/// After how long a gateway that does not say how something ended needs a person.
const PATIENCE: TimeDelta = TimeDelta::hours(3);

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub asked: usize,
    /// The gateway did not say; it is asked again.
    pub unknown: usize,
}

/// A call that a consumer's committed row asks for.
#[derive(Debug, Clone)]
pub enum GatewayCall {
    SendRefund(refund::Model),
    CloseAttempt(payment::Model),
}

/// Takes up a refund that was just asked for; `None` when somebody is at it already.
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

/// Takes up an attempt that was just retired; `None` when somebody is at it already.
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

/// Calls the gateway and settles what it says; true when it said how it ended.
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

/// Ends attempts whose end was asked for; one that is paid after all is settled as paid.
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

/// What went wrong with one order is that order's: it is logged and stays `unknown`. A database that is away or busy
/// ends the run.
pub fn or_unknown<T>(result: Result<T>, order: OrderId, unknown: T) -> Result<T> {
    match result {
        Err(error) if !error.is_passing() => {
            warn!(order:% = order, cause = error.cause(); "a question to a gateway came to nothing");
            Ok(unknown)
        }
        other => other,
    }
}

/// True when the gateway said how it ended.
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

/// True when it brings no money any more, or has brought it.
async fn is_ended(app: &App, payment: &payment::Model) -> Result<bool> {
    let told = gateway_queries::end(app, payment).await?;
    Ok(matches!(told, Told::Paid | Told::Ended))
}

/// Raises an alert, once, when a gateway has not said for hours how something ended; it is asked on.
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

//! Taking in a gateway's callback (webhook): verify the signature, lock the order, settle in one transaction, answer in
//! the gateway's own words.

use std::time::Duration;

use actix_web::http::header::HeaderMap;
use entity::OrderId;
use entity::payment_callback::{Kind, Outcome};
use log::log;

use super::settlement;
use crate::app::App;
use crate::deadline;
use crate::domain::gateway_message::GatewayMessage;
use crate::error::{Error, Result};
use crate::gateways::{PaymentGateway, Words};
use crate::metrics::Layer;

/// How long a callback may take, lock, queue and all tries included: gateways wait five seconds.
const DEADLINE: Duration = Duration::from_secs(4);
/// How long we then look whether the message was settled already.
const LOOK: Duration = Duration::from_millis(500);

/// Takes in a delivery and tells what the gateway hears.
///
/// The gateway hears success only after the commit; after any other answer it sends the message again.
pub async fn receive(
    app: &App,
    gateway: &dyn PaymentGateway,
    headers: &HeaderMap,
    raw: &[u8],
) -> Result<Words> {
    let message = match gateway.verify(headers, raw, app.clock.now()) {
        Ok(message) => message,
        Err(reason) => {
            app.metrics.callback_rejected(reason_name(reason));
            return Ok(gateway.rejection(reason));
        }
    };
    let outcome = match deadline::within(DEADLINE, Box::pin(take_in(app, &message))).await {
        Ok(outcome) => Some(outcome),
        Err(error) => known_all_the_same(app, &message, &error).await,
    };
    app.metrics
        .callback_answered(outcome.map_or("failure", name));
    match outcome {
        Some(Outcome::Unresolved) | None => Ok(gateway.failure()),
        Some(_) => Ok(gateway.success()),
    }
}

async fn take_in(app: &App, message: &GatewayMessage) -> Result<Outcome> {
    if message.kind == Kind::Ignored {
        return settlement::record(app, message, Outcome::Ignored).await;
    }
    match settlement::order_of(app, message.payment_id).await? {
        Some(order) => under_lock(app, order, message).await,
        None => settlement::record(app, message, Outcome::Unresolved).await,
    }
}

async fn under_lock(app: &App, order: OrderId, message: &GatewayMessage) -> Result<Outcome> {
    if !app.settings.callbacks.lock {
        return settlement::settle(app, order, message).await;
    }
    let name = format!("pay:callback:{order}");
    match app
        .locks
        .hold(&name, settlement::settle(app, order, message))
        .await
    {
        Ok(settled) => settled,
        Err(_held_by_another) => {
            app.metrics.intercepted(Layer::Lock, "payment_callback");
            Err(Error::InProgress { layer: Layer::Lock })
        }
    }
}

/// After a failure looks up the event once: a repeat of a message that is settled for good may still hear success.
async fn known_all_the_same(app: &App, message: &GatewayMessage, error: &Error) -> Option<Outcome> {
    let payment = message.payment_id.to_string();
    log!(error.level(), payment = payment.as_str(), cause = error.cause(); "a callback was not settled this time");
    if let Error::Internal(cause) = error {
        log::error!(cause = cause.as_str(); "a callback failed");
    }
    let known = settlement::known_outcome(app, message);
    deadline::within(LOOK, known).await.ok()?
}

const fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Applied => "applied",
        Outcome::Stale => "stale",
        Outcome::Ignored => "ignored",
        Outcome::Parked => "parked",
        Outcome::Unresolved => "unresolved",
        Outcome::Refused => "refused",
    }
}

const fn reason_name(reason: crate::gateways::Rejected) -> &'static str {
    match reason {
        crate::gateways::Rejected::Forged => "forged",
        crate::gateways::Rejected::Malformed => "malformed",
    }
}

//! The doors for events: each consumer turns a message into one use case, once for each business fact.

mod attempt_closing;
mod loyalty_points;
mod notifications;
mod payload;
mod refund_execution;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use entity::message_failure;
use futures_util::FutureExt;

use crate::app::App;
use crate::database::Transaction;
use crate::domain::events::Consumer;
use crate::error::{Error, Result};
use crate::events::Message;
use crate::services::events::deduplication::{self, Effect};
use crate::services::payments::background_calls;

/// Acts on a message for one consumer; `Ok` once the effect or its failure is committed.
pub async fn take(app: &Arc<App>, consumer: Consumer, message: &Message) -> Result<()> {
    act(app, consumer, message, None).await
}

/// The same for a message that failed before.
pub async fn take_again(
    app: &Arc<App>,
    consumer: Consumer,
    message: &Message,
    failure: &message_failure::Model,
) -> Result<()> {
    act(app, consumer, message, Some(failure)).await
}

async fn act(
    app: &Arc<App>,
    consumer: Consumer,
    message: &Message,
    failure: Option<&message_failure::Model>,
) -> Result<()> {
    let _at_work = AtWork::new(app);
    let effect = async |tx: &_| unbroken(effect(app, tx, consumer, message)).await;
    let call = deduplication::once(app, consumer, message, failure, effect).await?;
    if let Some(call) = call {
        background_calls::send_off(app, call);
    }
    Ok(())
}

async fn effect(
    app: &App,
    tx: &Transaction,
    consumer: Consumer,
    message: &Message,
) -> Result<Effect> {
    let now = app.clock.now();
    match consumer {
        Consumer::LoyaltyPoints => loyalty_points::act(tx, message).await,
        Consumer::Notifications => notifications::act(tx, message).await,
        Consumer::RefundExecution => refund_execution::act(tx, message, now).await,
        Consumer::AttemptClosing => attempt_closing::act(tx, message, now).await,
    }
}

/// A consumer that panics has failed like any other: the loop that called it goes on.
async fn unbroken(effect: impl Future<Output = Result<Effect>>) -> Result<Effect> {
    let ended = AssertUnwindSafe(effect).catch_unwind().await;
    ended.unwrap_or_else(|_panic| Err(Error::Internal("the consumer panicked".to_owned())))
}

/// Counted for as long as it lives.
struct AtWork<'a>(&'a App);

impl<'a> AtWork<'a> {
    fn new(app: &'a App) -> Self {
        app.metrics.events.in_progress.inc();
        Self(app)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.metrics.events.in_progress.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_consumer_that_panics_has_failed() {
        let broken = unbroken(async { panic!("on purpose") }).await;

        assert!(matches!(broken, Err(Error::Internal(_))));
    }
}

//! The relay and what follows it: events to the bus, messages to the consumers, failed messages again.

use std::sync::Arc;
use std::time::Duration;

use log::log;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::app::App;
use crate::consumers;
use crate::error::Result;
use crate::events::Bus;
use crate::services::events::{outbox_relay, retries};

/// The longest pause while the bus takes nothing.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Hands over what waits in the outbox, until nothing does or the bus takes no more; returns how
/// many events that were.
pub async fn relay(app: &Arc<App>) -> Result<usize> {
    Ok(relay_all(app).await?.events)
}

/// Takes up failed messages that are due; returns how many.
pub async fn retry(app: &Arc<App>) -> Result<usize> {
    retries::deliver_due(app, async |consumer, message, failure| {
        consumers::take_again(app, consumer, message, failure).await
    })
    .await
}

/// Brings what the bus has lost to the consumers; returns how many messages.
pub async fn bring_lost(app: &Arc<App>) -> Result<usize> {
    let take = async |consumer, message: &_| consumers::take(app, consumer, message).await;
    outbox_relay::bring_lost(app, &take).await
}

/// Brings what arrives from the bus to the consumers; never returns.
pub async fn deliver(app: &Arc<App>) {
    app.bus
        .deliver(&async |consumer, message: &_| consumers::take(app, consumer, message).await)
        .await;
}

async fn relay_all(app: &Arc<App>) -> Result<outbox_relay::Relayed> {
    let take = async |consumer, message: &_| consumers::take(app, consumer, message).await;
    let mut all = outbox_relay::Relayed::default();
    loop {
        let pass = outbox_relay::relay(app, &take).await?;
        all.events += pass.events;
        all.is_cut_short = pass.is_cut_short;
        if pass.events == 0 || pass.is_cut_short || app.is_stopping() {
            return Ok(all);
        }
    }
}

/// Woken by each commit and by a slow poll. While the bus takes nothing it pauses instead, twice as
/// long each time, so that a broker that is away costs the database next to nothing.
pub(super) async fn relay_for_ever(app: Arc<App>) {
    let poll = app.settings.events.poll;
    let mut pause = poll;
    while !app.is_stopping() {
        let is_troubled = match relay_all(&app).await {
            Ok(relayed) => relayed.is_cut_short,
            Err(error) => {
                log!(error.level(), cause = error.cause(); "the outbox was not read; it is read again");
                true
            }
        };
        if is_troubled {
            or_stopped(&app, sleep(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE.max(poll));
        } else {
            pause = poll;
            // An end by time-out is the poll.
            or_stopped(&app, timeout(poll, app.db.committed())).await;
        }
    }
}

/// What is at work then comes again: its transaction is rolled back, its message not acknowledged.
pub(super) async fn deliver_for_ever(app: Arc<App>) {
    or_stopped(&app, deliver(&app)).await;
}

pub(super) async fn retry_for_ever(app: Arc<App>) {
    let mut ticks = interval(app.settings.events.poll);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !app.is_stopping() {
        or_stopped(&app, ticks.tick()).await;
        if let Err(error) = retry(&app).await {
            log!(error.level(), cause = error.cause(); "failed messages were not taken up; they are again");
        }
    }
}

async fn or_stopped<T>(app: &App, wait: impl Future<Output = T>) {
    tokio::select! {
        () = app.stopped() => {}
        _ = wait => {}
    }
}

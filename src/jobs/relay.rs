//! The relay and what follows it: events to the bus, messages to the consumers, failed messages again.

use std::sync::Arc;
use std::time::Duration;

use log::warn;

use crate::app::App;
use crate::consumers;
use crate::error::Result;
use crate::events::Bus;
use crate::services::{failures, outbox};

/// The longest pause while the bus takes nothing.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Starts the loops; they end with the process, and what they had not done is still there.
pub fn start(app: &Arc<App>) {
    actix_web::rt::spawn(relay_for_ever(Arc::clone(app)));
    actix_web::rt::spawn(deliver_for_ever(Arc::clone(app)));
    actix_web::rt::spawn(retry_for_ever(Arc::clone(app)));
}

/// Hands over what waits in the outbox, until nothing does or the bus takes no more; returns how
/// many events that were.
pub async fn relay(app: &Arc<App>) -> Result<usize> {
    Ok(relay_all(app).await?.events)
}

/// Takes up failed messages that are due; returns how many.
pub async fn retry(app: &Arc<App>) -> Result<usize> {
    failures::deliver_due(app, async |consumer, message, failure| {
        consumers::take_again(app, consumer, message, failure).await
    })
    .await
}

/// Brings what arrives from the bus to the consumers; never returns.
pub async fn deliver(app: &Arc<App>) {
    app.bus
        .deliver(&async |consumer, message: &_| consumers::take(app, consumer, message).await)
        .await;
}

async fn relay_all(app: &Arc<App>) -> Result<outbox::Relayed> {
    let take = async |consumer, message: &_| consumers::take(app, consumer, message).await;
    let mut all = outbox::Relayed::default();
    loop {
        let pass = outbox::relay(app, &take).await?;
        all.events += pass.events;
        all.is_cut_short = pass.is_cut_short;
        if pass.events == 0 || pass.is_cut_short {
            return Ok(all);
        }
    }
}

/// Woken by each commit and by a slow poll. While the bus takes nothing it pauses instead, twice as
/// long each time, so that a broker that is away costs the database next to nothing.
async fn relay_for_ever(app: Arc<App>) {
    let poll = app.settings.events.poll;
    let mut pause = poll;
    loop {
        match relay_all(&app).await {
            Ok(relayed) if !relayed.is_cut_short => {
                pause = poll;
                // An end by time-out is the poll.
                let _ = tokio::time::timeout(poll, app.db.committed()).await;
                continue;
            }
            Ok(_) => {}
            Err(error) => warn!(error:% = error; "the outbox was not read; it is read again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE.max(poll));
    }
}

async fn deliver_for_ever(app: Arc<App>) {
    deliver(&app).await;
}

async fn retry_for_ever(app: Arc<App>) {
    let mut ticks = tokio::time::interval(app.settings.events.poll);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = retry(&app).await {
            warn!(error:% = error; "failed messages were not taken up; they are again");
        }
    }
}

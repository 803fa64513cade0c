//! The backlog for `/metrics`, counted at each scrape: unpublished events, failed messages, parked callbacks, open alerts.

use log::log;

use crate::app::App;
use crate::error::Result;
use crate::events::Bus;
use crate::repositories;

/// Brings the gauges up to date; a database that does not answer in time leaves them as they were.
pub async fn measure(app: &App) {
    let trouble = app.bus.trouble();
    app.metrics
        .backlog
        .bus_reachable
        .set(trouble.is_none().into());
    let is_blocked = trouble == Some("blocked");
    app.metrics.backlog.bus_blocked.set(is_blocked.into());
    let unreadable = signed(app.bus.unreadable());
    app.metrics.backlog.unreadable.set(unreadable);
    if let Err(error) = count(app).await {
        log!(error.level(), cause = error.cause(); "the backlog was not counted");
    }
}

async fn count(app: &App) -> Result<()> {
    let (db, gauges) = (app.db.read(), &app.metrics.backlog);
    let (events, oldest) = repositories::order_event::backlog(db).await?;
    let lag = oldest.map_or(0, |since| (app.clock.now() - since).num_seconds().max(0));
    gauges.outbox_events.set(events);
    gauges.outbox_lag.set(lag);
    let (failing, dead) = repositories::message_failure::count(db).await?;
    gauges.failing_messages.set(signed(failing));
    gauges.dead_messages.set(signed(dead));
    let alerts = repositories::alert::count_open(db).await?;
    gauges.open_alerts.set(signed(alerts));
    let parked = repositories::payment_callback::count_parked(db).await?;
    gauges.parked_callbacks.set(signed(parked));
    Ok(())
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

//! What waits in the database, counted when somebody asks: the outbox, failed messages, parked callbacks, alerts.

use log::warn;

use crate::app::App;
use crate::error::Result;
use crate::events::Bus;
use crate::repositories;

/// Brings the gauges up to date; a database that does not answer in time leaves them as they were.
pub async fn measure(app: &App) {
    let reachable = app.bus.is_reachable();
    app.metrics.backlog.bus_reachable.set(reachable.into());
    let unreadable = signed(app.bus.unreadable());
    app.metrics.backlog.unreadable.set(unreadable);
    let patience = app.settings.database.acquire_timeout;
    match tokio::time::timeout(patience, count(app)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn!(cause = error.cause(); "the backlog was not counted"),
        Err(_) => warn!("the backlog was not counted in time"),
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

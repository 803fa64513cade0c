//! What runs by itself: loops that survive a crash, since what is due stands in the database.

pub mod relay;

use std::sync::Arc;
use std::time::Duration;

use log::warn;

use crate::app::App;
use crate::error::Result;
use crate::services::{cashier, gateway_work};

/// How often the loops look for work.
const PERIOD: Duration = Duration::from_secs(1);

/// Starts all loops; they end with the process.
pub fn start(app: &Arc<App>) {
    relay::start(app);
    let app = Arc::clone(app);
    actix_web::rt::spawn(async move {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            report("retry_refunds", retry_refunds(&app).await);
            report("sandbox_delivery", cashier::deliver_due(&app).await);
        }
    });
}

/// Sends refunds whose end is not known, and closes attempts whose end was asked for.
pub async fn retry_refunds(app: &App) -> Result<()> {
    gateway_work::send_refunds(app).await?;
    gateway_work::close_attempts(app).await?;
    Ok(())
}

fn report(job: &str, result: Result<()>) {
    if let Err(error) = result {
        warn!(job, error:% = error; "a job did not come to its end; it runs again");
    }
}

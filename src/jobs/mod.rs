//! What runs by itself: the outbox relay, retries and scheduled jobs. Loops that survive a crash, since what is due
//! stands in the database.

pub mod relay;
mod scheduler;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use futures_util::FutureExt;
use log::{error, log, warn};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::app::App;
use crate::domain::jobs::Job;
use crate::error::Result;
use crate::services::operations::job_lease;
use crate::services::payments::cashier;
pub use scheduler::{Ran, run};

/// How often the sandbox looks for messages to deliver.
const DELIVERY_PERIOD: Duration = Duration::from_secs(1);
/// What breaks off at once may do so again.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);

/// The loops of one instance.
#[derive(Debug, Default)]
pub struct Loops(Vec<JoinHandle<()>>);

impl Loops {
    /// Starts all of them.
    pub fn start(app: &Arc<App>) -> Self {
        let mut loops = vec![
            kept_up(app, "relay", relay::relay_for_ever),
            kept_up(app, "delivery", relay::deliver_for_ever),
            kept_up(app, "failed messages", relay::retry_for_ever),
            kept_up(app, "sandbox", deliver_sandbox_messages),
        ];
        for job in Job::ALL {
            let runs = move |app| scheduler::run_for_ever(app, job);
            loops.push(kept_up(app, job.name(), runs));
        }
        Self(loops)
    }

    /// Asks them to end at their next safe point and waits so long; what is cut off is found again
    /// in the database, and whatever this instance held is given back.
    pub async fn stop(self, app: &App, patience: Duration) {
        app.stop();
        let mut tasks = self.0;
        let ends = async {
            for task in &mut tasks {
                // A loop that broke off has nothing left to end.
                let _ = task.await;
            }
            app.background_calls.done().await;
        };
        if timeout(patience, ends).await.is_err() {
            warn!("some loops did not come to a safe point in time; they are cut off");
        }
        tasks.iter().for_each(JoinHandle::abort);
        match timeout(patience, job_lease::give_back(app)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                warn!(cause = error.cause(); "what was held was not given back; it ends by itself");
            }
            Err(_) => warn!("the database does not answer; what was held ends by itself"),
        }
    }
}

/// Runs a loop in a task of its own, and again when it breaks off.
fn kept_up<F>(
    app: &Arc<App>,
    name: &'static str,
    work: impl Fn(Arc<App>) -> F + 'static,
) -> JoinHandle<()>
where
    F: Future<Output = ()> + 'static,
{
    let app = Arc::clone(app);
    actix_web::rt::spawn(async move {
        while AssertUnwindSafe(work(Arc::clone(&app)))
            .catch_unwind()
            .await
            .is_err()
        {
            error!(name; "a loop broke off; it begins again");
            sleep(AFTER_A_PANIC).await;
        }
    })
}

async fn deliver_sandbox_messages(app: Arc<App>) {
    let mut ticks = interval(DELIVERY_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.stopped() => return,
            _ = ticks.tick() => {}
        }
        report(cashier::deliver_due(&app).await);
    }
}

fn report(result: Result<()>) {
    if let Err(error) = result {
        log!(error.level(), cause = error.cause(); "the sandbox's messages were not delivered; they are again");
    }
}

//! Running jobs when their schedule says so, on one instance at a time.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use log::{info, warn};
use tokio::time::sleep;

use super::relay;
use crate::app::App;
use crate::domain::jobs::Job;
use crate::error::Result;
use crate::services::job_lease::{self, Held};
use crate::services::{archive, close_unpaid, gateway_work, job_runs, reconcile};

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It did this.
    Done(String),
    /// This instance is at it, or has done it.
    ByAnother(String),
}

/// Runs a job now, unless another instance is at it or has run what was planned for `scheduled_at`.
pub async fn run(app: &Arc<App>, job: Job, scheduled_at: DateTime<Utc>) -> Result<Ran> {
    let lease = format!("job:{}", job.name());
    let work = async {
        let Some(run) = job_runs::begin(app, job, scheduled_at).await? else {
            return Ok(None);
        };
        // Rare and large: boxed, so that what waits for it stays small.
        let result = Box::pin(perform(app, job)).await;
        job_runs::finish(app, job, run, &result).await?;
        result.map(Some)
    };
    Ok(match job_lease::hold(app, &lease, work).await? {
        Held::Done(Some(done)) => Ran::Done(done),
        Held::Done(None) => Ran::ByAnother("an instance that has done it".to_owned()),
        Held::ByAnother(holder) => Ran::ByAnother(holder),
    })
}

/// Until the instance stops; a run that fails is planned again like any other.
pub async fn run_for_ever(app: Arc<App>, job: Job) {
    while let Some(at) = job_runs::next(&app.settings, job, app.clock.now()) {
        let pause = (at - app.clock.now()).to_std().unwrap_or_default();
        tokio::select! {
            () = app.stopped() => return,
            () = sleep(pause) => {}
        }
        if let Err(error) = run(&app, job, at).await {
            warn!(job = job.name(), cause = error.cause(); "a job did not come to its end; it runs again");
        }
    }
    info!(job = job.name(); "a job has no schedule; it runs by hand");
}

/// What it did, in a few words.
async fn perform(app: &Arc<App>, job: Job) -> Result<String> {
    Ok(match job {
        Job::CloseUnpaid => {
            let done = close_unpaid::run(app).await?;
            let (closed, paid, unknown) = (done.closed, done.paid, done.unknown);
            format!("{closed} closed, {paid} paid after all, {unknown} unknown")
        }
        Job::Reconcile => {
            let done = reconcile::run(app).await?;
            let brought = relay::bring_lost(app).await?;
            let (asked, paid, ended, silent) = (done.asked, done.paid, done.ended, done.silent);
            format!(
                "{asked} asked about, {paid} paid, {ended} ended, {silent} unknown, \
                 {brought} lost messages brought"
            )
        }
        Job::RetryRefunds => {
            let done = gateway_work::send_refunds(app).await?;
            format!("{} sent, {} unknown", done.asked, done.unknown)
        }
        Job::Archive => {
            let done = archive::run(app, &archive::Options::default(), &|_| {}).await?;
            let rows: u64 = done.tables.iter().map(|table| table.rows).sum();
            let rest = if done.is_complete {
                "nothing old is left"
            } else {
                "the next run goes on"
            };
            format!("{rows} rows left the tables; {rest}")
        }
    })
}

//! Running jobs when their schedule says so, on one instance at a time.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use log::{info, log};
use tokio::time::sleep;

use super::relay;
use crate::app::App;
use crate::database::Refusal;
use crate::domain::jobs::Job;
use crate::error::Result;
use crate::services::archive;
use crate::services::operations::job_lease::{self, Held};
use crate::services::operations::job_runs;
use crate::services::payments::{close_unpaid, gateway_calls, reconcile};

/// So often a loop looks at the clock, which may have been set.
const LOOK: Duration = Duration::from_secs(30);
/// How often the archive goes on after the database was busy or away, and after which pause.
const ARCHIVE_TRIES: u32 = 30;
const ARCHIVE_PAUSE: Duration = Duration::from_secs(10);

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It did this.
    Done(String),
    /// This instance is at it, or has done it.
    ByAnother(String),
}

/// Runs a job now, unless another instance is at it or has run what was planned for `scheduled_at`.
///
/// Its run says how it ended, also when its lease was lost on the way.
pub async fn run(app: &Arc<App>, job: Job, scheduled_at: DateTime<Utc>) -> Result<Ran> {
    let lease = format!("job:{}", job.name());
    let mut run = job_runs::planned(app, job, scheduled_at);
    let begun = Cell::new(None);
    let work = async {
        begun.set(job_runs::begin(app, &run).await?);
        match begun.get() {
            Some(_) => perform(app, job).await.map(Ran::Done),
            None => Ok(Ran::ByAnother("an instance that has done it".to_owned())),
        }
    };
    // Rare and large: boxed, so that what waits for it stays small.
    let result = match Box::pin(job_lease::hold(app, &lease, work)).await {
        Ok(Held::Done(Ran::Done(done))) => Ok(done),
        Ok(Held::Done(ran)) => return Ok(ran),
        Ok(Held::ByAnother(holder)) => return Ok(Ran::ByAnother(holder)),
        Err(error) => Err(error),
    };
    run.id = begun.get().unwrap_or(run.id);
    job_runs::finish(app, run, &result).await;
    result.map(Ran::Done)
}

/// Until the instance stops; a run that fails is planned again like any other.
pub async fn run_for_ever(app: Arc<App>, job: Job) {
    let mut planned = None;
    loop {
        let now = app.clock.now();
        if let Some(at) = planned.take_if(|at| *at <= now) {
            if let Err(error) = run(&app, job, at).await {
                log!(error.level(), job = job.name(), cause = error.cause(); "a job did not come to its end; it runs again");
            }
            continue;
        }
        let Some(at) = job_runs::next(&app.settings, job, now) else {
            info!(job = job.name(); "a job has no schedule; it runs by hand");
            return;
        };
        planned = Some(at);
        let pause = (at - now).to_std().unwrap_or_default().min(LOOK);
        tokio::select! {
            () = app.stopped() => return,
            () = sleep(pause) => {}
        }
        // Kept until it succeeds.
        let _ = job_runs::write_late(&app).await;
    }
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
            let (asked, paid, ended, silent) = (done.asked, done.paid, done.ended, done.silent);
            format!("{asked} asked about, {paid} paid, {ended} ended, {silent} unknown")
        }
        Job::RetryRefunds => {
            let done = gateway_calls::send_refunds(app).await?;
            format!("{} sent, {} unknown", done.asked, done.unknown)
        }
        Job::Redeliver => format!("{} lost messages brought", relay::bring_lost(app).await?),
        Job::Archive => {
            let done = archive_patiently(app).await?;
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

/// A database that is busy for a moment does not cost the night: the next try first finishes what is open.
async fn archive_patiently(app: &App) -> Result<archive::Report> {
    let mut tries = 1;
    loop {
        match archive::run(app, &archive::Options::default(), &|_| {}).await {
            Err(error) if error.is_passing() && tries < ARCHIVE_TRIES && !app.is_stopping() => {
                log!(error.level(), cause = error.cause(), tries; "the archive was held up; it goes on");
                sleep(ARCHIVE_PAUSE).await;
                tries += 1;
            }
            ended => return ended,
        }
    }
}

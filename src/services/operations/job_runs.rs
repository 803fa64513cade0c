//! The runs of scheduled jobs: when each ran and how it ended, for operators. A planned run happens on one instance only.

use std::str::FromStr;

use chrono::{DateTime, FixedOffset, Utc};
use croner::Cron;
use entity::job_run;
use log::log;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::database::OnDuplicate;
use crate::domain::jobs::Job;
use crate::error::{Error, Result};
use crate::repositories;
use crate::repositories::job_run::RUNNING;
use crate::settings::Settings;

/// How many runs of a job are remembered.
const REMEMBERED: u64 = 50;
/// How many runs of a job an operator is shown.
const SHOWN: u64 = 10;
/// The id of a run that could not be inserted yet.
const NOT_BEGUN: i64 = 0;
/// The longest text about a run that is kept, in characters.
const LONGEST: usize = 500;

/// A job and its last runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobView {
    pub name: &'static str,
    /// A cron expression with seconds; empty when it runs only by hand.
    pub schedule: String,
    pub next_run_at: Option<DateTime<Utc>>,
    /// The newest first.
    pub runs: Vec<RunView>,
}

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunView {
    pub id: String,
    pub scheduled_at: DateTime<Utc>,
    /// Which instance ran it.
    pub instance: String,
    pub started_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
    /// `RUNNING`, `SUCCEEDED`, `FAILED`, or `ABANDONED` when it was killed.
    pub outcome: String,
    /// What it did, or why it could not.
    pub done: String,
}

/// The row for this instance's run that is planned for `scheduled_at`, not inserted yet.
pub fn planned(app: &App, job: Job, scheduled_at: DateTime<Utc>) -> job_run::Model {
    job_run::Model {
        id: NOT_BEGUN,
        job: job.name().to_owned(),
        scheduled_at,
        instance: app.instance().to_owned(),
        started_at: app.clock.now(),
        finished_at: None,
        outcome: RUNNING.to_owned(),
        done: String::new(),
    }
}

/// Inserts the row of a run that begins, and returns its id; `None` when another instance has run what was planned.
///
/// The caller holds the job's lease, so an earlier run that has not ended was killed: it becomes `ABANDONED`.
pub async fn begin(app: &App, run: &job_run::Model) -> Result<Option<i64>> {
    write_late(app).await?;
    repositories::job_run::abandon(app.db.write(), &run.job, "ABANDONED").await?;
    insert(app, run).await
}

/// Writes how a run ended. If the database does not take that now, it is kept in memory and written later; so is a
/// run that could not even begin, unless another instance has run what was planned.
pub async fn finish(app: &App, mut run: job_run::Model, result: &Result<String>) {
    let now = app.clock.now();
    let (outcome, done) = match result {
        Ok(done) => ("SUCCEEDED", done.clone()),
        Err(error) => ("FAILED", error.cause()),
    };
    run.outcome = outcome.to_owned();
    run.done = done.chars().take(LONGEST).collect();
    run.finished_at = Some(now);
    app.metrics.jobs.ended(&run.job, outcome, now);
    if run.id == NOT_BEGUN {
        app.late_runs.keep(run);
    } else if let Err(error) = write(app, &run).await {
        log!(error.level(), job = run.job.as_str(), cause = error.cause(); "how a run ended is written down later");
        app.late_runs.keep(run);
    }
}

/// Writes the ends of runs that the database did not take before.
pub async fn write_late(app: &App) -> Result<()> {
    while let Some(run) = app.late_runs.take() {
        if let Err(error) = write(app, &run).await {
            app.late_runs.keep(run);
            return Err(error);
        }
    }
    Ok(())
}

/// Writes a run that ended, and deletes the job's oldest runs.
async fn write(app: &App, run: &job_run::Model) -> Result<()> {
    let db = app.db.write();
    if run.id == NOT_BEGUN {
        insert(app, run).await?;
    } else {
        repositories::job_run::finish(db, run).await?;
    }
    let newest = repositories::job_run::newest(db, &run.job, REMEMBERED + 1).await?;
    if let Some(oldest) = newest.get(usize::try_from(REMEMBERED).unwrap_or(usize::MAX)) {
        repositories::job_run::forget(db, &run.job, oldest.id).await?;
    }
    Ok(())
}

/// Inserts a run; `None` when the job has one for the same planned moment.
async fn insert(app: &App, run: &job_run::Model) -> Result<Option<i64>> {
    let inserted = repositories::job_run::insert(app.db.write(), run.clone())
        .await
        .on_duplicate("uk_job_run", Error::NotFound);
    match inserted {
        Ok(id) => Ok(Some(id)),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All jobs with their last runs.
pub async fn list(app: &App) -> Result<Vec<JobView>> {
    let mut views = Vec::new();
    for job in Job::ALL {
        let runs = repositories::job_run::newest(app.db.read(), job.name(), SHOWN).await?;
        views.push(JobView {
            name: job.name(),
            schedule: schedule(&app.settings, job).to_owned(),
            next_run_at: next(&app.settings, job, app.clock.now()),
            runs: runs.into_iter().map(RunView::from).collect(),
        });
    }
    Ok(views)
}

/// When a job runs next after `now`; `None` when it runs only by hand.
pub fn next(settings: &Settings, job: Job, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let offset: FixedOffset = settings.jobs.utc_offset.parse().ok()?;
    let cron = Cron::from_str(schedule(settings, job)).ok()?;
    let local = now.with_timezone(&offset);
    let next = cron.find_next_occurrence(&local, false).ok()?;
    Some(next.to_utc())
}

fn schedule(settings: &Settings, job: Job) -> &str {
    let schedule = settings.jobs.schedules.get(job.name());
    schedule.map_or("", String::as_str)
}

impl From<job_run::Model> for RunView {
    fn from(run: job_run::Model) -> Self {
        Self {
            id: run.id.to_string(),
            scheduled_at: run.scheduled_at,
            instance: run.instance,
            started_at: run.started_at,
            finished_at: run.finished_at,
            outcome: run.outcome,
            done: run.done,
        }
    }
}

//! `order-service job`: the scheduled jobs and their last runs, and a run by hand, also while a server serves.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use order_service::app::App;
use order_service::clock::Clock;
use order_service::domain::jobs::Job;
use order_service::error::{Error, Result};
use order_service::jobs::{self, Ran};
use order_service::services::operations::job_runs::{self, JobView};
use order_service::settings::Settings;

use super::say;

#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// Lists the jobs, their schedules and their last runs.
    List,
    /// Runs a job now, unless an instance is at it.
    Run {
        /// `close_unpaid`, `reconcile`, `retry_refunds`, `redeliver` or `archive`.
        name: String,
    },
}

pub async fn run(settings: Settings, command: JobCommand) -> Result<ExitCode> {
    let app = Arc::new(App::beside(settings, Clock::System).await?);
    match command {
        JobCommand::List => {
            job_runs::list(&app).await?.iter().for_each(print);
            Ok(ExitCode::SUCCESS)
        }
        JobCommand::Run { name } => run_now(&app, &name).await,
    }
}

fn print(job: &JobView) {
    let next = job.next_run_at.map(|at| at.to_rfc3339());
    let next = next.as_deref().unwrap_or("by hand");
    say(format_args!(
        "{}  schedule: {}  next: {next}",
        job.name, job.schedule
    ));
    for run in &job.runs {
        let at = run.started_at.to_rfc3339();
        say(format_args!("  {at}  {}  {}", run.outcome, run.done));
    }
}

async fn run_now(app: &Arc<App>, name: &str) -> Result<ExitCode> {
    let Some(job) = Job::named(name) else {
        let known = Job::ALL.map(Job::name).join(", ");
        return Err(Error::Start(format!(
            "there is no job {name}; there are {known}"
        )));
    };
    Ok(match jobs::run(app, job, app.clock.now()).await? {
        Ran::Done(done) => {
            say(format_args!("{name}: {done}"));
            ExitCode::SUCCESS
        }
        Ran::ByAnother(holder) => {
            say(format_args!("{name}: not run, it is held by {holder}"));
            ExitCode::FAILURE
        }
    })
}

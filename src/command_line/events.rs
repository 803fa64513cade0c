//! `order-service events`: the dead list, and replays from it, also while a server serves.

use std::process::ExitCode;

use clap::Subcommand;
use order_service::app::App;
use order_service::clock::Clock;
use order_service::error::{Error, Result};
use order_service::services::events::failed_messages::{self, FailureView, State};
use order_service::settings::Settings;

use super::say;

/// How many rows one read of the list takes.
const PAGE: u64 = 500;

#[derive(Debug, Subcommand)]
pub enum EventCommand {
    /// Lists the messages that failed so often that nobody tries them any more.
    Dead,
    /// Lets failed messages be tried again from the beginning, by the service that runs or starts next.
    Replay {
        /// The ids that `events dead` lists.
        #[arg(required_unless_present = "all")]
        ids: Vec<i64>,
        /// All dead messages.
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

pub async fn run(settings: Settings, command: EventCommand) -> Result<ExitCode> {
    let app = App::beside(settings, Clock::System).await?;
    match command {
        EventCommand::Dead => list(&app).await?,
        EventCommand::Replay { all: true, .. } => {
            let count = failed_messages::replay_all(&app).await?;
            say(format_args!("{count} messages are tried again"));
        }
        EventCommand::Replay { ids, .. } => return replay(&app, &ids).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// All pages, the oldest first, a message a line.
async fn list(app: &App) -> Result<()> {
    let mut after = 0;
    let mut count = 0;
    loop {
        let page = failed_messages::list(app, Some(State::Dead), after, PAGE).await?;
        for failure in &page.data {
            say(line(failure));
            count += 1;
        }
        let Some(cursor) = page.next_cursor else {
            break;
        };
        after = cursor.parse().unwrap_or(i64::MAX);
    }
    say(format_args!("events: {count} dead"));
    Ok(())
}

fn line(failure: &FailureView) -> String {
    format!(
        "id {}  {}  order {}  {} (event {})  failed {} times, dead since {}: {}",
        failure.id,
        failure.consumer,
        failure.order_id,
        failure.event_type.as_deref().unwrap_or("archived"),
        failure.event_id,
        failure.attempts,
        failure
            .dead_at
            .map(|since| since.to_rfc3339())
            .unwrap_or_default(),
        failure.last_error,
    )
}

async fn replay(app: &App, ids: &[i64]) -> Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    for id in ids {
        match failed_messages::replay(app, *id).await {
            Ok(()) => say(format_args!("id {id}: is tried again")),
            Err(Error::NotFound) => {
                say(format_args!(
                    "id {id}: is on no list; see `order-service events dead`"
                ));
                status = ExitCode::FAILURE;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(status)
}

//! The command line; without a command it serves.

mod command_line;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use command_line::archive::{self, ArchiveCommand};
use command_line::events::{self, EventCommand};
use command_line::job::{self, JobCommand};
use log::info;
use order_service::app::App;
use order_service::clock::Clock;
use order_service::database::{Access, Database, migrate};
use order_service::error::{Error, Result};
use order_service::metrics::Metrics;
use order_service::server::{self, Listening};
use order_service::services::catalogue::seed;
use order_service::services::operations::audit;
use order_service::settings::Settings;

/// Orders that end in the same state however often they are asked for.
#[derive(Debug, Parser)]
#[command(version, about)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the API and the checkout page (the default).
    Serve,
    /// Brings the schema up to date.
    Migrate {
        /// Takes back this many steps instead.
        #[arg(long)]
        down: Option<u32>,
    },
    /// Fills an empty catalogue with six products of 1,000 pieces each.
    Seed,
    /// Proves from the data that nothing happened twice; prints every violation, exit code 1 if any.
    Audit,
    /// Lists the scheduled jobs and their last runs, and runs them by hand.
    Job {
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Lists messages that nobody tries any more, and lets them be tried again.
    Events {
        #[command(subcommand)]
        command: EventCommand,
    },
    /// Moves old rows into files, and looks into them.
    Archive {
        #[command(subcommand)]
        command: ArchiveCommand,
    },
}

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info"))
        // Its trace shows the database's URL, password and all.
        .filter_module("sea_orm::driver", log::LevelFilter::Info)
        // It shows the bodies of returned messages; what it meets is said by the bus.
        .filter_module("lapin", log::LevelFilter::Off)
        .init();
    let line = CommandLine::parse();
    match actix_web::rt::System::new().block_on(run(line.command.unwrap_or(Command::Serve))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("order-service: {}", sentence(&error));
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> Result<ExitCode> {
    let settings = Settings::load().map_err(|error| Error::Start(error.to_string()))?;
    match command {
        Command::Serve => serve(settings).await,
        Command::Migrate { down } => migrate(settings, down).await,
        Command::Seed => fill(settings).await,
        Command::Audit => inspect(settings).await,
        Command::Job { command } => Box::pin(job::run(settings, command)).await,
        Command::Events { command } => events::run(settings, command).await,
        Command::Archive { command } => archive::run(settings, command).await,
    }
}

async fn serve(settings: Settings) -> Result<ExitCode> {
    let app = Arc::new(App::new(settings, Clock::System).await?);
    server::prepare(&app).await?;
    let patience = app.settings.server.shutdown;
    let Listening {
        server,
        address,
        loops,
    } = server::listen(&app)?;
    info!("listening at http://{address}");
    server
        .await
        .map_err(|error| Error::Start(format!("the server broke off: {error}")))?;
    loops.stop(&app, patience).await;
    // A database that is frozen would keep us for ever.
    if tokio::time::timeout(patience, app.db.close())
        .await
        .is_err()
    {
        log::warn!("the database does not answer; its connections are left to it");
    }
    info!("stopped");
    Ok(ExitCode::SUCCESS)
}

async fn migrate(settings: Settings, down: Option<u32>) -> Result<ExitCode> {
    let app = App::new(settings, Clock::System).await?;
    app.db
        .alone(&app.settings, async |connection| match down {
            Some(steps) => migrate::down(connection, Some(steps)).await,
            None => migrate::up(connection).await,
        })
        .await?;
    info!("the schema is as asked for");
    Ok(ExitCode::SUCCESS)
}

async fn fill(settings: Settings) -> Result<ExitCode> {
    let app = App::new(settings, Clock::System).await?;
    let filled = app
        .db
        .alone(&app.settings, async |connection| {
            migrate::up(connection).await?;
            seed::fill_empty_catalogue(&app).await
        })
        .await?;
    if filled {
        info!("six products were added");
    } else {
        info!("there are products already; nothing was changed");
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(
    clippy::print_stdout,
    reason = "the findings are this command's answer"
)]
async fn inspect(settings: Settings) -> Result<ExitCode> {
    let metrics = Metrics::new().map_err(|error| Error::Start(error.to_string()))?;
    let db = Database::connect(&settings, Access::Beside, Arc::new(metrics)).await?;
    let violations = audit::run(&db, &settings).await?;
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() {
        println!("audit: clean");
        return Ok(ExitCode::SUCCESS);
    }
    println!("audit: {} violations", violations.len());
    Ok(ExitCode::FAILURE)
}

/// What to tell the person at the terminal, the cause included.
fn sentence(error: &Error) -> String {
    match error {
        Error::Unavailable(cause) => {
            format!("the database of ORDER__DATABASE__URL cannot be reached: {cause}")
        }
        other => other.cause(),
    }
}

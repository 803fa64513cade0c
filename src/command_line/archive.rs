//! `order-service archive`: a run by hand, also while a server serves, and looks into what was archived.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use entity::OrderId;
use entity::archive_file::{Model, Table};
use order_service::app::App;
use order_service::clock::Clock;
use order_service::error::{Error, Result};
use order_service::services::archive::{self, LEASE, Options, Report, Sought};
use order_service::services::operations::job_lease::{self, Held};
use order_service::settings::{Mode, Settings};

use super::progress::Bars;
use super::say;

#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Moves old rows out of the tables, after finishing what earlier runs left open.
    Run {
        /// Only counts them.
        #[arg(long)]
        dry_run: bool,
        /// Only this table; may be given several times.
        #[arg(long = "table", value_name = "NAME", value_parser = table)]
        tables: Vec<Table>,
    },
    /// Lists what left the tables.
    List,
    /// Prints the archived rows about an order, or those of a gateway's message, a line of JSON each.
    Find(What),
    /// Reads all files again and compares them with what the database knows; exit code 1 if anything differs.
    Verify,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct What {
    /// An order's id.
    #[arg(long, value_name = "ID", value_parser = order)]
    order: Option<OrderId>,
    /// The id that the gateway gave its message.
    #[arg(long, value_name = "GATEWAY_EVENT_ID")]
    event: Option<String>,
}

pub async fn run(settings: Settings, command: ArchiveCommand) -> Result<ExitCode> {
    let app = App::beside(settings, Clock::System).await?;
    match command {
        ArchiveCommand::Run { dry_run, tables } => {
            let mut options = Options {
                dry_run,
                ..Options::default()
            };
            if !tables.is_empty() {
                options.tables = tables;
            }
            archive(&app, &options).await
        }
        ArchiveCommand::List => list(&app).await,
        ArchiveCommand::Find(what) => find(&app, what).await,
        ArchiveCommand::Verify => verify(&app).await,
    }
}

async fn archive(app: &App, options: &Options) -> Result<ExitCode> {
    let bars = Bars::new(options.dry_run);
    let watch = |progress: &archive::Progress<'_>| bars.show(progress);
    let run = Box::pin(archive::run(app, options, &watch));
    if options.dry_run {
        report(&run.await?);
        return Ok(ExitCode::SUCCESS);
    }
    match job_lease::hold(app, LEASE, run).await? {
        Held::Done(done) => {
            bars.end();
            report(&done);
            Ok(ExitCode::SUCCESS)
        }
        Held::ByAnother(holder) => Err(Error::Start(format!(
            "instance {holder} is archiving, or died less than {} ago: try again when it is done",
            humantime::format_duration(app.settings.jobs.lease)
        ))),
    }
}

fn report(report: &Report) {
    if report.resumed > 0 {
        say(format_args!(
            "{} files of earlier runs were finished",
            report.resumed
        ));
    }
    for table in &report.tables {
        let done = match table.mode {
            Mode::Archive => "archived",
            Mode::Purge => "purged",
        };
        say(format_args!(
            "{}: {} rows were old, {} {done}",
            table.table.name(),
            table.found,
            table.rows
        ));
    }
    if report.longest_transaction.as_micros() > 0 {
        say(format_args!(
            "the longest transaction took {} ms",
            report.longest_transaction.as_millis()
        ));
    }
    if !report.is_complete {
        say(format_args!(
            "the window was over first: the next run goes on"
        ));
    }
}

async fn list(app: &App) -> Result<ExitCode> {
    let files = archive::list(app).await?;
    for file in &files {
        say(format_args!("{}", line(file)));
    }
    say(format_args!("archive: {} files", files.len()));
    Ok(ExitCode::SUCCESS)
}

fn line(file: &Model) -> String {
    let newest = file.newest_at.map(|newest| newest.to_rfc3339());
    format!(
        "{}  {}  {} rows, until {}  sha256 {}",
        file.state.name(),
        file.path,
        file.rows,
        newest.as_deref().unwrap_or("-"),
        if file.sha256.is_empty() {
            "-"
        } else {
            &file.sha256
        },
    )
}

async fn find(app: &App, what: What) -> Result<ExitCode> {
    let sought = match (what.order, what.event) {
        (Some(order), _) => Sought::Order(order),
        (None, event) => Sought::Event(event.unwrap_or_default()),
    };
    let mut found = 0;
    archive::find(app, &sought, |_, line| {
        say(format_args!("{line}"));
        found += 1;
    })
    .await?;
    if found == 0 {
        eprintln!("nothing about it was archived");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

async fn verify(app: &App) -> Result<ExitCode> {
    let mut differences = 0;
    let files = archive::verify(app, |difference| {
        say(format_args!("{}: {}", difference.path, difference.problem));
        differences += 1;
    })
    .await?;
    say(format_args!(
        "archive: {files} files read, {differences} differ"
    ));
    if differences == 0 {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

fn table(name: &str) -> Result<Table, String> {
    let known = Table::ALL.into_iter().find(|table| table.name() == name);
    known.ok_or_else(|| {
        let names = Table::ALL.map(Table::name).join(", ");
        format!("choose one of {names}")
    })
}

fn order(id: &str) -> Result<OrderId, String> {
    id.parse::<OrderId>().map_err(|error| error.to_string())
}

//! Moving old rows out of the tables: into files that are verified before anything is deleted.
//!
//! A run that is killed anywhere leaves each row in its table, in a file, or in both; the next run
//! first finishes what is open.

mod batch;
mod directory;
mod look;
mod open;
mod purge;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use entity::archive_file::Table;

use crate::app::App;
use crate::domain::archive::{Age, Key};
use crate::error::{Error, Result};
use crate::files::Directory;
use crate::repositories::old_rows::{self, Range};
use crate::settings::Mode;

pub use look::{Difference, Sought, find, list, verify};

/// The lease under which alone a run may be made.
pub const LEASE: &str = "job:archive";

/// What a run is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only count.
    pub dry_run: bool,
    pub tables: Vec<Table>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dry_run: false,
            tables: Table::ALL.to_vec(),
        }
    }
}

/// What a run tells on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// So many old rows are in a table.
    Found { table: Table, rows: u64 },
    /// So many more rows were written to a file.
    Written { table: Table, rows: u64 },
    /// So many more rows were deleted.
    Deleted { table: Table, rows: u64 },
    /// All rows of a file are in the file only, or so many were purged.
    Finished {
        table: Table,
        path: &'a str,
        rows: u64,
    },
}

/// Hears of the progress; must not block.
pub type Watcher<'a> = &'a (dyn Fn(&Progress<'_>) + Sync);

/// What a run did with one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    pub table: Table,
    pub mode: Mode,
    /// Old rows at the beginning.
    pub found: u64,
    /// Rows that left the table.
    pub rows: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Files of earlier runs that were finished or given up.
    pub resumed: u64,
    pub tables: Vec<TableReport>,
    /// Whether nothing old is left; otherwise the window was over.
    pub is_complete: bool,
    pub longest_transaction: Duration,
}

/// Moves what is older than the retention out of the tables; the caller holds [`LEASE`].
///
/// Fails with a sentence when the directory is not the archive's, or a file is not what it was.
pub async fn run(app: &App, options: &Options, watch: Watcher<'_>) -> Result<Report> {
    let mut run = Run::begin(app, watch)?;
    let mut report = Report {
        resumed: 0,
        tables: Vec::new(),
        is_complete: true,
        longest_transaction: Duration::ZERO,
    };
    if !options.dry_run {
        run.directory = directory::open(app).await?;
        (report.resumed, report.is_complete) = open::finish_all(&run).await?;
    }
    for table in &options.tables {
        let (done, is_complete) = run.table(*table, options.dry_run).await?;
        report.is_complete &= is_complete;
        report.tables.push(done);
    }
    report.longest_transaction = Duration::from_micros(run.longest.load(Ordering::Relaxed));
    Ok(report)
}

/// One run.
struct Run<'a> {
    app: &'a App,
    directory: Directory,
    age: Age,
    ends_at: DateTime<Utc>,
    watch: Watcher<'a>,
    /// The longest transaction, in microseconds.
    longest: AtomicU64,
}

/// Rows that left a table together.
struct Batch {
    rows: u64,
    last: Option<Key>,
    /// False when the window ended first.
    is_complete: bool,
}

impl<'a> Run<'a> {
    fn begin(app: &'a App, watch: Watcher<'a>) -> Result<Self> {
        let settings = &app.settings.archive;
        let now = app.clock.now();
        Ok(Self {
            app,
            directory: Directory::new(&settings.directory),
            age: Age::beyond(retention(app)?, now),
            ends_at: now + delta(settings.window)?,
            watch,
            longest: AtomicU64::new(0),
        })
    }

    /// Moves the old rows of one table, a batch after the other, until none is left or the window is over.
    async fn table(&self, table: Table, dry_run: bool) -> Result<(TableReport, bool)> {
        let db = self.app.db.read();
        let range = old_rows::range(db, table, self.age).await?;
        let found = old_rows::count(db, &range).await?;
        let mode = self.app.settings.archive.mode(table);
        let mut report = TableReport {
            table,
            mode,
            found,
            rows: 0,
        };
        (self.watch)(&Progress::Found { table, rows: found });
        if dry_run {
            return Ok((report, true));
        }
        let mut after = None;
        while !self.is_over() {
            let Some(batch) = self.batch(mode, &range, after.as_ref()).await? else {
                return Ok((report, true));
            };
            report.rows += batch.rows;
            if !batch.is_complete {
                break;
            }
            after = batch.last;
        }
        Ok((report, false))
    }

    async fn batch(&self, mode: Mode, range: &Range, after: Option<&Key>) -> Result<Option<Batch>> {
        match mode {
            Mode::Archive => batch::archive(self, range, after).await,
            Mode::Purge => purge::purge(self, range, after).await,
        }
    }

    /// The window is over, or the instance stops: the next run goes on.
    fn is_over(&self) -> bool {
        self.app.is_stopping() || self.app.clock.now() >= self.ends_at
    }

    /// Lets orders and callbacks have the database for a while.
    async fn pause(&self) {
        tokio::time::sleep(self.app.settings.archive.pause).await;
    }

    fn slice(&self) -> usize {
        self.app.settings.archive.slice
    }
}

/// How old rows become before they leave.
pub fn retention(app: &App) -> Result<TimeDelta> {
    delta(app.settings.archive.retention)
}

fn delta(duration: Duration) -> Result<TimeDelta> {
    TimeDelta::from_std(duration).map_err(|error| Error::Internal(error.to_string()))
}

/// Runs what blocks beside the threads that answer.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let broken = |error| Error::Internal(format!("work on a file broke off: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

//! Moving old rows from the tables into files, each verified before its rows are deleted.
//!
//! [`run()`] is the entry point of the scheduled job and of `order-service archive run`. Read in this order:
//! 1. `run`: what one run carries along: its time window, directory and progress
//! 2. `directory`: checks that the directory belongs to this database
//! 3. `open`: finishes the files that an earlier run left open; `give_up` drops one that was never verified
//! 4. `batch`: writes one file, reads it back, then deletes its rows; `purge` deletes rows without a file
//! 5. `look`: lists, searches and verifies what was archived
//!
//! A run that is killed anywhere leaves each row in its table, in a file, or in both; the next run first finishes the
//! files that are open.

mod batch;
mod directory;
mod give_up;
mod look;
mod open;
mod purge;
mod run;

use std::sync::atomic::Ordering;
use std::time::Duration;

use entity::archive_file::Table;

use crate::app::App;
use crate::domain::archive::Key;
use crate::error::Result;
use crate::repositories::old_rows::{self, Range};
use crate::settings::Mode;

pub use look::{Difference, Sought, find, list, verify};
use run::{Batch, Run};
pub use run::{Progress, Watcher, retention};

/// The lease that a run needs, so that only one instance archives at a time.
pub const LEASE: &str = "job:archive";

/// What a run is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only count the old rows, move none.
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
    /// Whether nothing old is left; false when the run's time window was over first.
    pub is_complete: bool,
    pub longest_transaction: Duration,
}

/// Moves what is older than the retention out of the tables; the caller holds [`LEASE`].
///
/// Fails with a sentence when the directory is not this database's archive, or a file differs from its row.
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
        let (done, is_complete) = archive_table(&run, *table, options.dry_run).await?;
        report.is_complete &= is_complete;
        report.tables.push(done);
    }
    report.longest_transaction = Duration::from_micros(run.longest.load(Ordering::Relaxed));
    Ok(report)
}

/// Moves the old rows of one table, a batch after the other, until none is left or the window is over.
async fn archive_table(run: &Run<'_>, table: Table, dry_run: bool) -> Result<(TableReport, bool)> {
    let db = run.app.db.read();
    let range = old_rows::range(db, table, run.age).await?;
    let found = old_rows::count(db, &range).await?;
    let mode = run.app.settings.archive.mode(table);
    let mut report = TableReport {
        table,
        mode,
        found,
        rows: 0,
    };
    (run.watch)(&Progress::Found { table, rows: found });
    if dry_run {
        return Ok((report, true));
    }
    let mut after = None;
    while !run.is_over() {
        let Some(batch) = next_batch(run, mode, &range, after.as_ref()).await? else {
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

async fn next_batch(
    run: &Run<'_>,
    mode: Mode,
    range: &Range,
    after: Option<&Key>,
) -> Result<Option<Batch>> {
    match mode {
        Mode::Archive => batch::archive(run, range, after).await,
        Mode::Purge => purge::purge(run, range, after).await,
    }
}

//! What one run of the archive carries along: its time window, its directory, and the callback for its progress.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use entity::archive_file::Table;

use crate::app::App;
use crate::domain::archive::{Age, Key};
use crate::error::{Error, Result};
use crate::files::Directory;

/// A step of a run, reported as it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// So many old rows are in a table.
    Found { table: Table, rows: u64 },
    /// So many more rows were written to a file.
    Written { table: Table, rows: u64 },
    /// So many more rows were deleted.
    Deleted { table: Table, rows: u64 },
    /// All rows of a file are deleted from the table, or so many rows were purged.
    Finished {
        table: Table,
        path: &'a str,
        rows: u64,
    },
}

/// The callback that is told of the progress; it must not block.
pub type Watcher<'a> = &'a (dyn Fn(&Progress<'_>) + Sync);

/// One run.
pub struct Run<'a> {
    pub app: &'a App,
    pub directory: Directory,
    pub age: Age,
    pub ends_at: DateTime<Utc>,
    pub watch: Watcher<'a>,
    /// The longest transaction, in microseconds.
    pub longest: AtomicU64,
}

/// The rows that one file, or one purge, took out of a table.
pub struct Batch {
    pub rows: u64,
    pub last: Option<Key>,
    /// False when the window ended first.
    pub is_complete: bool,
}

impl<'a> Run<'a> {
    pub fn begin(app: &'a App, watch: Watcher<'a>) -> Result<Self> {
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

    /// Whether to stop here, because the time window is over or the instance stops; the next run goes on.
    pub fn is_over(&self) -> bool {
        self.app.is_stopping() || self.app.clock.now() >= self.ends_at
    }

    /// Pauses between two transactions, to leave the database to orders and callbacks.
    pub async fn pause(&self) {
        tokio::time::sleep(self.app.settings.archive.pause).await;
    }

    pub fn slice(&self) -> usize {
        self.app.settings.archive.slice
    }
}

/// The age from which rows leave the tables.
pub fn retention(app: &App) -> Result<TimeDelta> {
    delta(app.settings.archive.retention)
}

fn delta(duration: Duration) -> Result<TimeDelta> {
    TimeDelta::from_std(duration).map_err(|error| Error::Internal(error.to_string()))
}

/// Runs blocking file work on a thread of its own, so that no request waits for it.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let broken = |error| Error::Internal(format!("work on a file broke off: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

//! What is wrong with the database now: told once to the log, and to `/readyz` and `/metrics` for as long as it lasts.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::{error, info};
use sea_orm::DbErr;

use super::Failure;
use crate::metrics::Metrics;

/// Trouble that comes and goes within this time is not told again.
const QUIET: Duration = Duration::from_secs(10);

/// Kinds of trouble: not the statement's fault, and over some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It does not answer, or not in time.
    Unreachable,
    /// The server gives no more connections, and none is ours.
    TooManyConnections,
    /// It takes no writes: a replica after a fail-over, or a file system mounted for reading.
    ReadOnly,
    /// The disk or a table is full.
    Full,
    /// Reading or writing a file failed.
    IoError,
    /// The `SQLite` file was removed or replaced.
    FileGone,
    /// The file is no database, or a damaged one.
    Damaged,
    /// COMMIT is answered with an error, each time.
    CommitFails,
}

impl Trouble {
    pub const ALL: [Self; 8] = [
        Self::Unreachable,
        Self::TooManyConnections,
        Self::ReadOnly,
        Self::Full,
        Self::IoError,
        Self::FileGone,
        Self::Damaged,
        Self::CommitFails,
    ];

    /// What `/readyz` and the metric's label say.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TooManyConnections => "too_many_connections",
            Self::ReadOnly => "read_only",
            Self::Full => "full",
            Self::IoError => "io_error",
            Self::FileGone => "file_gone",
            Self::Damaged => "damaged",
            Self::CommitFails => "commit_fails",
        }
    }

    /// Whether reads may go on meanwhile, so that only a write that was stored ends it.
    pub const fn spares_reads(self) -> bool {
        !matches!(
            self,
            Self::Unreachable | Self::TooManyConnections | Self::FileGone
        )
    }

    /// What an operator does about it.
    const fn advice(self) -> &'static str {
        match self {
            Self::Unreachable => "look whether the server runs and the network reaches it",
            Self::TooManyConnections => {
                "raise the server's max_connections, or lower database.max_connections"
            }
            Self::ReadOnly => "look where the writer is; connections of before are closed",
            Self::Full => "make room on the database's disk",
            Self::IoError => "look at the database's disk",
            Self::FileGone => "put the file of database.url back",
            Self::Damaged => "restore the database from a backup",
            Self::CommitFails => "look at the server's log",
        }
    }
}

/// How a process's database is.
#[derive(Debug)]
pub struct Watch {
    /// 0, or one more than the place in [`Trouble::ALL`]: asked on each success.
    now: AtomicUsize,
    /// How much was answered, whatever else is slow.
    answers: AtomicU64,
    episode: Mutex<Episode>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct Episode {
    since: Instant,
    /// It showed in a write: reads that are answered do not end it.
    is_of_writes: bool,
    /// Failures since then.
    failures: u64,
    /// When each kind was told last.
    told: [Option<Instant>; Trouble::ALL.len()],
}

impl Watch {
    pub fn new(metrics: Arc<Metrics>) -> Self {
        for trouble in Trouble::ALL {
            metrics.database.trouble(trouble.name(), false);
        }
        let episode = Mutex::new(Episode {
            since: Instant::now(),
            is_of_writes: false,
            failures: 0,
            told: [None; Trouble::ALL.len()],
        });
        Self {
            now: AtomicUsize::new(0),
            answers: AtomicU64::new(0),
            episode,
            metrics,
        }
    }

    /// The trouble that nothing has ended yet.
    pub fn current(&self) -> Option<Trouble> {
        let place = self.now.load(Ordering::Acquire).checked_sub(1)?;
        Trouble::ALL.get(place).copied()
    }

    /// Notes a read, or a write, that was given up; an error of a statement's own is none.
    pub fn failed(&self, error: &DbErr, is_read: bool) {
        let Failure::Trouble(trouble) = Failure::of(error) else {
            return;
        };
        let place = place_of(trouble);
        let mut episode = self.episode.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.now.swap(place + 1, Ordering::AcqRel);
        if before == 0 {
            episode.since = Instant::now();
            episode.failures = 0;
            episode.is_of_writes = false;
        }
        episode.is_of_writes |= !is_read;
        episode.failures += 1;
        if before != place + 1 {
            if let Some(before) = before
                .checked_sub(1)
                .and_then(|before| Trouble::ALL.get(before))
            {
                self.metrics.database.trouble(before.name(), false);
            }
            self.metrics.database.trouble(trouble.name(), true);
        }
        if episode.is_to_be_told(place) {
            episode.told[place] = Some(Instant::now());
            error!(
                reason = trouble.name(), cause:% = error, advice = trouble.advice();
                "the database is in trouble; requests hear 503 and may come again"
            );
        }
    }

    /// Grows with each answer.
    pub fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Notes that a read was answered.
    pub fn read(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.ended(|trouble, is_of_writes| !is_of_writes && !trouble.spares_reads());
    }

    /// Notes that something was stored.
    pub fn stored(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.ended(|_, _| true);
    }

    fn ended(&self, by_this: impl Fn(Trouble, bool) -> bool) {
        if self.current().is_none() {
            return;
        }
        let episode = self.episode.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |trouble: &Trouble| by_this(*trouble, episode.is_of_writes);
        let Some(trouble) = self.current().filter(is_over) else {
            return;
        };
        self.now.store(0, Ordering::Release);
        self.metrics.database.trouble(trouble.name(), false);
        if episode.is_told() {
            let seconds = episode.since.elapsed().as_secs();
            info!(
                reason = trouble.name(), seconds, failures = episode.failures;
                "the database's trouble is over"
            );
        }
    }
}

impl Episode {
    /// Once an episode, and not again for what comes and goes.
    fn is_to_be_told(&self, place: usize) -> bool {
        self.told[place].is_none_or(|told| told < self.since && told.elapsed() > QUIET)
    }

    fn is_told(&self) -> bool {
        self.told.iter().flatten().any(|told| *told >= self.since)
    }
}

fn place_of(trouble: Trouble) -> usize {
    Trouble::ALL
        .iter()
        .position(|known| *known == trouble)
        .unwrap_or_default()
}

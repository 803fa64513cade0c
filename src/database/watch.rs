//! Which trouble the database is in now. The log tells its beginning and its end once; `/readyz` and `/metrics` show it
//! for as long as it lasts.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::{error, info};
use sea_orm::DbErr;

use super::failure::Failure;
use super::trouble::Trouble;
use crate::metrics::Metrics;

/// Trouble that comes back within this time is not logged again.
const QUIET: Duration = Duration::from_secs(10);

/// The present trouble of this process's database, if there is any.
#[derive(Debug)]
pub struct Watch {
    /// 0 without trouble, else its place in [`Trouble::ALL`] plus one; an atomic, as each success reads it.
    now: AtomicUsize,
    /// How many statements were answered so far.
    answers: AtomicU64,
    episode: Mutex<Episode>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct Episode {
    since: Instant,
    /// Whether a write has failed: then reads that are answered do not end the trouble.
    is_of_writes: bool,
    /// Failures since then.
    failures: u64,
    /// When each kind of trouble was logged last.
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

    /// Notes that a read or a write failed; only errors that mean trouble with the database count.
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

    /// How many statements were answered so far.
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
    /// Whether to log this kind now: once in an episode, and not again soon if it comes and goes.
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

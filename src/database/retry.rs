//! Running a transaction, and retrying the whole of it while a retry can help and the deadline allows one.

use std::time::Duration;

use rand::RngExt;
use sea_orm::{DbBackend, DbErr};
use tokio::time::Instant;

use super::handle::Database;
use super::transaction::Transaction;
use crate::deadline::{self, in_time};
use crate::error::Error;

/// How often a transaction is tried before the caller hears 503.
const TRIES: u32 = 5;
/// How long a read-only snapshot may take: the audit reads whole tables in it.
const SNAPSHOT: Duration = Duration::from_mins(30);

/// Why a transaction's work ended without a commit; a use case may have answers of its own.
pub trait Refusal: From<Error> {
    /// The error, unless the use case has an answer of its own.
    fn error(&self) -> Option<&Error>;

    /// Whether the same work, run again, may succeed.
    fn is_passing(&self) -> bool {
        matches!(self.error(), Some(Error::Busy | Error::Unavailable(_)))
    }
}

impl Refusal for Error {
    fn error(&self) -> Option<&Error> {
        Some(self)
    }
}

/// How one try ended.
enum Ended<T, E> {
    Committed(T),
    /// Nothing was written or, after an error at COMMIT, perhaps all of it; either way it is run again.
    Again(E),
    Refused(E),
}

impl Database {
    /// Runs `work` in one transaction and commits; rolls back on an error.
    ///
    /// After a deadlock, a lock wait, a busy database or a broken connection the whole of `work`
    /// runs again: five tries with jitter within the caller's deadline, then the failure (503). An
    /// error *at* COMMIT is unknown and runs again too: what was committed is then found by the
    /// unique keys and the conditional updates of `work` itself.
    pub async fn transaction<T, E: Refusal>(
        &self,
        work: impl AsyncFn(&Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let until = self.until();
        let mut tries = 1;
        loop {
            let failure = match self.one_try(until, &work).await {
                Ended::Committed(value) => return Ok(value),
                Ended::Refused(error) => return Err(error),
                Ended::Again(error) => error,
            };
            let pause = pause(tries);
            if tries == TRIES || Instant::now() + pause >= until {
                if let Some(Error::Unavailable(cause)) = failure.error() {
                    self.watch.failed(cause, false);
                }
                return Err(failure);
            }
            self.metrics.transaction_retries.inc();
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    /// Runs reads that all see the same moment, in a transaction that changes nothing.
    pub async fn snapshot<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let words: &[&str] = match self.backend() {
            DbBackend::Sqlite => &["BEGIN"],
            _ => &[
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "START TRANSACTION READ ONLY",
            ],
        };
        let until = Instant::now() + SNAPSHOT;
        let lent = self.read.pool.lend(until).await?;
        let tx = Transaction::begin(lent, self.backend(), words, until).await?;
        let result = work(&tx).await;
        tx.rollback().await;
        result
    }

    async fn one_try<T, E: Refusal>(
        &self,
        until: Instant,
        work: &impl AsyncFn(&Transaction) -> Result<T, E>,
    ) -> Ended<T, E> {
        let _place = match in_time(until, self.bulkhead.enter()).await {
            Ok(Ok(place)) => place,
            Ok(Err(error)) => return Ended::Refused(error.into()),
            Err(_passed) => return Ended::Refused(Error::Busy.into()),
        };
        let start = Instant::now();
        let tx = match self.begin(until).await {
            Ok(tx) => tx,
            Err(error) => return refused(Error::from(error).into()),
        };
        let ended = match work(&tx).await {
            Ok(value) => self.commit(tx, value).await,
            Err(error) => {
                tx.rollback().await;
                refused(error)
            }
        };
        self.metrics
            .transaction_seconds
            .observe(start.elapsed().as_secs_f64());
        ended
    }

    /// Begins on a connection without an open transaction: inside one, `BEGIN` fails on `SQLite` and commits on `MySQL`.
    async fn begin(&self, until: Instant) -> Result<Transaction, DbErr> {
        let words: &[&str] = match self.backend() {
            // IMMEDIATE takes the write lock at once, so that a second writer waits instead of failing later.
            DbBackend::Sqlite => &["BEGIN IMMEDIATE"],
            _ => &["BEGIN"],
        };
        let lent = self.write.pool.lend(until).await?;
        Transaction::begin(lent, self.backend(), words, until).await
    }

    async fn commit<T, E: Refusal>(&self, tx: Transaction, value: T) -> Ended<T, E> {
        let stored = tx.commit().await;
        match stored.and_then(|wrote| self.write.pool.file_is_same().map(|()| wrote)) {
            Ok(wrote) => {
                if wrote {
                    self.watch.stored();
                } else {
                    self.watch.read();
                }
                self.commits.notify_one();
                Ended::Committed(value)
            }
            Err(error) => Ended::Again(Error::Unavailable(error).into()),
        }
    }

    /// The caller's deadline, or the setting for work that has none.
    fn until(&self) -> Instant {
        deadline::current().unwrap_or_else(|| Instant::now() + self.write.patience)
    }
}

fn refused<T, E: Refusal>(error: E) -> Ended<T, E> {
    if error.is_passing() {
        Ended::Again(error)
    } else {
        Ended::Refused(error)
    }
}

/// The pause before another try; it grows, and is random so that transactions that collided do not collide again.
fn pause(tries: u32) -> Duration {
    Duration::from_millis(rand::rng().random_range(2..=20) * u64::from(tries))
}

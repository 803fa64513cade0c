//! One transaction, run again as a whole for as long as that can help.

use std::time::{Duration, Instant};

use rand::RngExt;
use sea_orm::{
    DatabaseTransaction, DbErr, SqliteTransactionMode, TransactionOptions, TransactionTrait,
};

use super::Database;
use crate::error::Error;

/// How often a transaction is tried before the caller hears 503.
const TRIES: u32 = 5;

/// Why a transaction's work ended without a commit; a use case may have answers of its own.
pub trait Refusal: From<Error> {
    /// Whether the same work, run again, may succeed.
    fn is_passing(&self) -> bool;
}

impl Refusal for Error {
    fn is_passing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unavailable(_))
    }
}

/// How one try ended.
enum Ended<T, E> {
    Committed(T),
    /// Nothing was written, or (an error at COMMIT) perhaps all of it; either way run again.
    Again(E),
    Refused(E),
}

impl Database {
    /// Runs `work` in one transaction and commits; rolls back on an error.
    ///
    /// After a deadlock, a lock wait, a busy database or a broken connection the whole of `work`
    /// runs again: five tries with jitter, then the failure (503). An error *at* COMMIT is
    /// unknown and runs again too: what was committed is then found by the unique keys and the
    /// conditional updates of `work` itself.
    pub async fn transaction<T, E: Refusal>(
        &self,
        work: impl AsyncFn(&DatabaseTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = 1;
        loop {
            let failure = match self.one_try(&work).await {
                Ended::Committed(value) => return Ok(value),
                Ended::Refused(error) => return Err(error),
                Ended::Again(error) => error,
            };
            if tries == TRIES {
                return Err(failure);
            }
            self.metrics.transaction_retries.inc();
            tokio::time::sleep(pause(tries)).await;
            tries += 1;
        }
    }

    async fn one_try<T, E: Refusal>(
        &self,
        work: &impl AsyncFn(&DatabaseTransaction) -> Result<T, E>,
    ) -> Ended<T, E> {
        let _place = match self.bulkhead.enter().await {
            Ok(place) => place,
            Err(error) => return Ended::Refused(error.into()),
        };
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let start = Instant::now();
        let tx = match self.write.begin_with_options(options).await {
            Ok(tx) => tx,
            Err(error) => return failed(error),
        };
        let ended = match work(&tx).await {
            Ok(value) => match tx.commit().await {
                Ok(()) => {
                    self.commits.notify_one();
                    Ended::Committed(value)
                }
                Err(error) => Ended::Again(Error::Unavailable(error).into()),
            },
            Err(error) => {
                // A rollback that fails ends with its connection.
                let _ = tx.rollback().await;
                refused(error)
            }
        };
        self.metrics
            .transaction_seconds
            .observe(start.elapsed().as_secs_f64());
        ended
    }
}

fn failed<T, E: Refusal>(error: DbErr) -> Ended<T, E> {
    refused(Error::from(error).into())
}

fn refused<T, E: Refusal>(error: E) -> Ended<T, E> {
    if error.is_passing() {
        Ended::Again(error)
    } else {
        Ended::Refused(error)
    }
}

/// Grows with the tries, and differs between those who collided.
fn pause(tries: u32) -> Duration {
    Duration::from_millis(rand::rng().random_range(2..=20) * u64::from(tries))
}

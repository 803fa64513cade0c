//! The database: connections, transactions that are run again when they may be, and what its errors mean.

mod bulkhead;
mod connect;
mod failure;
pub mod migrate;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use sea_orm::{DatabaseConnection, DbBackend};
use tokio::sync::Notify;

use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::settings::Settings;

use bulkhead::Bulkhead;
pub use connect::Access;
pub use failure::{Failure, OnDuplicate, is_key};
pub use transaction::Refusal;

/// The connections of one process.
///
/// On `SQLite` `write` is one connection with a fair queue and `read` a pool of its own; on `MySQL`
/// both are the same pool.
#[derive(Debug, Clone)]
pub struct Database {
    write: DatabaseConnection,
    read: DatabaseConnection,
    bulkhead: Arc<Bulkhead>,
    commits: Arc<Notify>,
    metrics: Arc<Metrics>,
    /// How long an answer to a ping is waited for.
    patience: Duration,
    /// Refuses a second server on the same `SQLite` file for as long as it lives.
    _file_lock: Option<Arc<std::fs::File>>,
}

impl Database {
    /// Connects; fails with a sentence when the database cannot be reached or is served already.
    pub async fn connect(
        settings: &Settings,
        access: Access,
        metrics: Arc<Metrics>,
    ) -> Result<Self> {
        let (write, read, file_lock) = connect::open(&settings.database, access).await?;
        let bulkhead = Arc::new(Bulkhead::new(&settings.bulkhead, Arc::clone(&metrics)));
        Ok(Self {
            write,
            read,
            bulkhead,
            commits: Arc::new(Notify::new()),
            metrics,
            patience: settings.database.acquire_timeout,
            _file_lock: file_lock,
        })
    }

    /// For reads outside any transaction.
    pub const fn read(&self) -> &DatabaseConnection {
        &self.read
    }

    /// For single statements that need no transaction of their own.
    pub const fn write(&self) -> &DatabaseConnection {
        &self.write
    }

    /// Returns once a transaction of this process has been committed since the last call; one
    /// waiter at a time.
    pub async fn committed(&self) {
        self.commits.notified().await;
    }

    pub fn backend(&self) -> DbBackend {
        self.write.get_database_backend()
    }

    /// Whether it answers in time: one that is frozen or cut off never would.
    pub async fn is_reachable(&self) -> bool {
        let answer = tokio::time::timeout(self.patience, self.read.ping()).await;
        matches!(answer, Ok(Ok(())))
    }

    /// Ends all connections after running transactions are done.
    pub async fn close(&self) -> Result<()> {
        self.write.close_by_ref().await?;
        self.read.close_by_ref().await?;
        Ok(())
    }
}

impl From<sea_orm::DbErr> for Error {
    /// What a caller of the service hears when nobody named the failure before.
    fn from(error: sea_orm::DbErr) -> Self {
        match Failure::of(&error) {
            Failure::Conflict => Self::Busy,
            Failure::Unreachable => Self::Unavailable(error),
            Failure::Duplicate(_) | Failure::Other => Self::Internal(error.to_string()),
        }
    }
}

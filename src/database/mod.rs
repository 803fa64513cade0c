//! The database: connections that are lent, transactions that are run again when they may be, and what its errors mean.

mod bulkhead;
mod connect;
mod failure;
mod health;
mod lent;
pub mod migrate;
mod pool;
mod probe;
mod renewal;
mod retry;
mod single;
mod sqlite_file;
mod transaction;
mod trouble;

use std::sync::Arc;

use sea_orm::{ConnectionTrait, DbBackend};
use tokio::sync::Notify;

use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::settings::Settings;

use bulkhead::Bulkhead;
pub use connect::Access;
use connect::Opened;
pub use failure::{Failure, OnDuplicate, is_key, late};
pub use retry::Refusal;
pub use single::Single;
pub use transaction::Transaction;
pub use trouble::Trouble;
use trouble::Watch;

/// The connections of one process.
///
/// On `SQLite` `write` is one connection with a fair queue and `read` a pool of its own; on `MySQL`
/// both are the same pool.
#[derive(Debug, Clone)]
pub struct Database {
    write: Single,
    read: Single,
    bulkhead: Arc<Bulkhead>,
    commits: Arc<Notify>,
    metrics: Arc<Metrics>,
    watch: Arc<Watch>,
    probe: Arc<probe::Probe>,
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
        let Opened {
            write,
            read,
            file_lock,
        } = connect::open(&settings.database, access, Arc::clone(&metrics)).await?;
        let watch = Arc::new(Watch::new(Arc::clone(&metrics)));
        let single = |pool| Single {
            pool,
            watch: Arc::clone(&watch),
            patience: settings.database.deadline,
        };
        Ok(Self {
            write: single(write),
            read: single(read),
            bulkhead: Arc::new(Bulkhead::new(&settings.bulkhead, Arc::clone(&metrics))),
            commits: Arc::new(Notify::new()),
            metrics,
            watch,
            probe: Arc::default(),
            _file_lock: file_lock,
        })
    }

    /// For reads outside any transaction.
    pub const fn read(&self) -> &Single {
        &self.read
    }

    /// For single statements that need no transaction of their own.
    pub const fn write(&self) -> &Single {
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

    /// Ends all connections after running transactions are done.
    pub async fn close(&self) {
        self.write.pool.close().await;
        self.read.pool.close().await;
    }
}

impl From<sea_orm::DbErr> for Error {
    /// What a caller of the service hears when nobody named the failure before.
    fn from(error: sea_orm::DbErr) -> Self {
        match Failure::of(&error) {
            Failure::Conflict => Self::Busy,
            Failure::Trouble(_) => Self::Unavailable(error),
            Failure::Duplicate(_) | Failure::Other => Self::Internal(error.to_string()),
        }
    }
}

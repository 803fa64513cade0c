//! [`Database`]: the handle that everything which needs the database is given.

use std::sync::Arc;

use sea_orm::{ConnectionTrait, DbBackend};
use tokio::sync::{Mutex, Notify};

use super::bulkhead::Bulkhead;
use super::connect::{self, Access, Opened};
use super::single::Single;
use super::watch::Watch;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::settings::Settings;

/// The connections of one process.
///
/// On `SQLite` `write` is one connection with a fair queue and `read` a pool of its own; on `MySQL`
/// both are the same pool.
#[derive(Debug, Clone)]
pub struct Database {
    pub(super) write: Single,
    pub(super) read: Single,
    pub(super) bulkhead: Arc<Bulkhead>,
    pub(super) commits: Arc<Notify>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) watch: Arc<Watch>,
    /// Held by the one task that probes the database; other tasks wait for its result.
    pub(super) probing: Arc<Mutex<()>>,
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
            probing: Arc::default(),
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

    /// Returns once this process has committed a transaction since the last call. Only one task, the outbox relay,
    /// may wait here.
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

//! Opening `SQLite` anew: all connections of the process are closed before the next one is opened.
//!
//! The connections of a process share state, such as a `-shm` file that could only be opened for reading. As long
//! as one of them is open, a new connection inherits that state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::DbErr;
use sea_orm::sqlx::SqlitePool;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

use super::failure;
use super::health::Health;
use crate::deadline::in_time;

/// The pools on one file.
#[derive(Debug)]
pub struct Renewal {
    health: Arc<Health>,
    pools: Vec<Lender>,
    /// The number of the last retirement after which all connections were closed.
    done: AtomicU64,
    turn: Mutex<()>,
}

/// A driver's pool, with a place for each connection that may be lent.
#[derive(Debug)]
pub struct Lender {
    pub driver: SqlitePool,
    pub places: Arc<Semaphore>,
    pub size: u32,
}

impl Renewal {
    pub fn new(health: Arc<Health>, pools: Vec<Lender>) -> Self {
        Self {
            health,
            pools,
            done: AtomicU64::new(0),
            turn: Mutex::new(()),
        }
    }

    /// Closes all connections if some were retired since the last time; waits until `until` for those that are
    /// lent.
    pub async fn if_needed(&self, until: Instant) -> Result<(), DbErr> {
        if self.is_done() {
            return Ok(());
        }
        in_time(until, self.close_all())
            .await
            .map_err(|_passed| failure::late())
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.health.retirements()
    }

    async fn close_all(&self) {
        let _turn = self.turn.lock().await;
        let retirements = self.health.retirements();
        if self.is_done() {
            return;
        }
        let mut none_is_lent = Vec::new();
        for pool in &self.pools {
            none_is_lent.push(pool.places.acquire_many(pool.size).await);
        }
        for pool in &self.pools {
            while let Some(connection) = pool.driver.try_acquire() {
                // Even if closing fails, the connection's files are closed.
                let _ = sea_orm::sqlx::Connection::close(connection.detach()).await;
            }
        }
        self.done.store(retirements, Ordering::Release);
    }
}

//! Which connections may be lent: none that was opened before a fail-over, and one that rested only after a test.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::sqlx;
use sea_orm::sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use tokio::time::timeout;

use crate::metrics::Metrics;

/// How long the test of a connection may take before another one is opened instead.
const TEST: Duration = Duration::from_secs(1);

/// The moments before which connections are not trusted any more.
#[derive(Debug)]
pub struct Health {
    /// A connection opened before `retired` is closed; one last used before `suspected` is tested.
    since: Mutex<Since>,
    /// How often all open connections were retired.
    retirements: AtomicU64,
    /// A connection that rested for longer is tested before it is lent.
    test_after: Duration,
    pub(super) metrics: Arc<Metrics>,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    retired: Instant,
    suspected: Instant,
}

impl Health {
    pub fn new(test_after: Duration, metrics: Arc<Metrics>) -> Self {
        let now = Instant::now();
        Self {
            since: Mutex::new(Since {
                retired: now,
                suspected: now,
            }),
            retirements: AtomicU64::new(0),
            test_after,
            metrics,
        }
    }

    pub fn retirements(&self) -> u64 {
        self.retirements.load(Ordering::Acquire)
    }

    /// Retires all open connections: none is lent again, because their server or file is no longer the right one.
    pub fn retire(&self) {
        self.change(|since| since.retired = Instant::now());
        self.retirements.fetch_add(1, Ordering::AcqRel);
    }

    /// Has every open connection tested before it is lent again, because one of them was dead.
    pub fn suspect(&self) {
        self.change(|since| since.suspected = Instant::now());
    }

    pub fn closed(&self, reason: &str) {
        self.metrics.database.closed(reason);
    }

    /// The driver asks this before it lends a connection.
    pub fn watch<DB: sqlx::Database>(
        self: &Arc<Self>,
        options: PoolOptions<DB>,
    ) -> PoolOptions<DB> {
        let health = Arc::clone(self);
        options
            .test_before_acquire(false)
            .before_acquire(move |connection, about| {
                let health = Arc::clone(&health);
                Box::pin(async move { Ok(health.may_be_lent::<DB>(connection, about).await) })
            })
    }

    async fn may_be_lent<DB: sqlx::Database>(
        &self,
        connection: &mut DB::Connection,
        about: PoolConnectionMetadata,
    ) -> bool {
        use sqlx::Connection;
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let before = |age: Duration, moment: Instant| now.duration_since(moment) < age;
        if before(about.age, since.retired) {
            self.closed("retired");
            return false;
        }
        if about.idle_for < self.test_after && !before(about.idle_for, since.suspected) {
            return true;
        }
        let is_well = matches!(timeout(TEST, connection.ping()).await, Ok(Ok(())));
        if !is_well {
            self.suspect();
            self.closed("dead");
        }
        is_well
    }

    fn change(&self, how: impl FnOnce(&mut Since)) {
        how(&mut self.since.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

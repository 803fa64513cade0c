//! Locks over a closure: held from before it begins until after it ended, so that one covers the commit inside.
//!
//! A lock keeps the crowd from one row; it does not make the row right, the database does.

use std::{collections::HashSet, fmt, pin::Pin, sync::Arc, time::Duration};

use log::warn;
use rand::random_range;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::{
    entry::{Entry, Taken},
    fallback_store::FallbackStore,
    store::StoreDown,
};
use crate::metrics::Metrics;

/// Another held the lock until the end of the wait. A store that is down is never the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("held by another")]
pub struct HeldByAnother;

/// How long locks live.
#[derive(Debug, Clone, Copy)]
pub struct LockSettings {
    /// A holder that crashed is waited for so long; one that lives renews at every third of it.
    pub lease: Duration,
    /// How long a lock is waited for.
    pub wait: Duration,
    /// A lock ends after so long even if its holder is still at work.
    pub hold: Duration,
}

impl Default for LockSettings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            wait: Duration::from_secs(2),
            hold: Duration::from_mins(1),
        }
    }
}

/// Shared by the whole process; a clone has the same locks.
#[derive(Clone)]
pub struct Locks {
    store: FallbackStore,
    settings: LockSettings,
    metrics: Arc<Metrics>,
    on_lost: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Locks {
    pub fn new(store: FallbackStore, settings: LockSettings, metrics: Arc<Metrics>) -> Self {
        let lease = settings.lease.min(settings.hold);
        let settings = LockSettings { lease, ..settings };
        Self {
            store,
            settings,
            metrics,
            on_lost: Arc::new(|_| ()),
        }
    }

    /// With `hook`, which hears the name of each lock that was lost while its holder was at work. It is called by the
    /// holder's task and must not block.
    #[must_use]
    pub fn on_lost(mut self, hook: Arc<dyn Fn(&str) + Send + Sync>) -> Self {
        self.on_lost = hook;
        self
    }

    /// Runs `work` under the lock `name`, which is free again after it ended. A flow that holds `name` already runs
    /// `work` at once; a task that it spawned does not hold it.
    ///
    /// `name` appears in logs: make it of ids, not of what a client wrote. `work` must not block its thread for the
    /// length of the lease. Dropping the future frees the lock by best effort, and by its lease at the latest.
    pub fn hold<T>(
        &self,
        name: &str,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, HeldByAnother>> {
        self.hold_within(self.settings.wait, name, work)
    }

    /// [`Locks::hold`] with another wait; with none there is exactly one try.
    pub async fn hold_within<T>(
        &self,
        wait: Duration,
        name: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, HeldByAnother> {
        // Boxed, because holds nest and each layer would double the size of the future.
        let work = Box::pin(work);
        let held = HELD.try_with(HashSet::clone).unwrap_or_default();
        if held.contains(name) {
            return Ok(work.await);
        }
        let lease = self.acquire(wait, name).await?;
        let outcome = HELD.scope(with(held, name), lease.watch(work)).await;
        lease.entry.remove().await;
        Ok(outcome)
    }

    async fn acquire<'a>(
        &'a self,
        wait: Duration,
        name: &'a str,
    ) -> Result<Lease<'a>, HeldByAnother> {
        let started = Instant::now();
        let lease = self.poll(started + wait, name).await;
        self.metrics
            .lock_wait
            .observe(started.elapsed().as_secs_f64());
        lease.ok_or_else(|| {
            self.metrics.lock_timeouts.inc();
            HeldByAnother
        })
    }

    /// Tries until `deadline`, and once more then.
    async fn poll<'a>(&'a self, deadline: Instant, name: &'a str) -> Option<Lease<'a>> {
        let key = self.store.key("lock", name);
        let owner = Uuid::new_v4().simple().to_string();
        let mut pause = FIRST_PAUSE;
        loop {
            let now = Instant::now();
            if let Taken::Ours(entry) = self.store.take(&key, &owner, self.settings.lease).await {
                return Some(Lease {
                    locks: self,
                    name,
                    entry,
                    since: now,
                });
            }
            if now >= deadline {
                return None;
            }
            let again = Instant::now() + random_range(pause / 2..=pause);
            sleep_until(again.min(deadline)).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }
}

impl fmt::Debug for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locks")
            .field("store", &self.store)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Between two tries; doubled after each, and cut by up to half at random so that waiters do not come in step.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

tokio::task_local! {
    /// The names that the flow holds that runs now.
    static HELD: HashSet<String>;
}

fn with(mut held: HashSet<String>, name: &str) -> HashSet<String> {
    held.insert(name.to_owned());
    held
}

/// A lock that is held.
struct Lease<'a> {
    locks: &'a Locks,
    name: &'a str,
    entry: Entry,
    since: Instant,
}

impl Lease<'_> {
    /// Runs `work` and renews beside it. Both are one future, so no renewal outlives the work.
    async fn watch<T>(&self, mut work: Pin<Box<impl Future<Output = T>>>) -> T {
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            cause = self.renew() => self.lost(cause),
        }
        work.await
    }

    /// Renews at every third of the lease. Ends, with the cause, when the lock is no longer held; by our clock that is
    /// never later than by the store's, which starts a lease after we do.
    async fn renew(&self) -> &'static str {
        let LockSettings { lease, hold, .. } = self.locks.settings;
        let limit = self.since + hold;
        let mut ends = self.since + lease;
        loop {
            sleep_until(ends.min(Instant::now() + lease / 3)).await;
            let now = Instant::now();
            let ttl = lease.min(limit.saturating_duration_since(now));
            if ttl.is_zero() {
                return "the limit of one hold";
            }
            match self.entry.renew(ttl).await {
                Ok(true) => {
                    self.locks.metrics.lock_renewals.inc();
                    ends = now + ttl;
                }
                Ok(false) => return "its lease ended or passed to another",
                // The store may be back before the lease is over.
                Err(StoreDown) if Instant::now() < ends => {}
                Err(StoreDown) => return "the store is down and the lease over",
            }
        }
    }

    fn lost(&self, cause: &str) {
        self.locks.metrics.lock_lost.inc();
        warn!(lock = self.name, cause = cause; "A lock was lost while its holder was at work");
        (self.locks.on_lost)(self.name);
    }
}

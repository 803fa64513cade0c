//! The bulkhead: a limit on the transactions that run at once, with a bounded queue in front of every BEGIN. It keeps a
//! crowd from overloading the database when Redis, which else holds repeats back, is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::settings;

#[derive(Debug)]
pub struct Bulkhead {
    places: Semaphore,
    queue: usize,
    waiting: AtomicUsize,
    wait: Duration,
    metrics: Arc<Metrics>,
}

/// A place among the transactions; given back when dropped.
#[derive(Debug)]
pub struct Place<'a> {
    _permit: SemaphorePermit<'a>,
    metrics: &'a Metrics,
}

impl Bulkhead {
    pub fn new(settings: &settings::Bulkhead, metrics: Arc<Metrics>) -> Self {
        Self {
            places: Semaphore::new(settings.transactions),
            queue: settings.queue,
            waiting: AtomicUsize::new(0),
            wait: settings.wait,
            metrics,
        }
    }

    /// Waits for a place, first come first served; [`Error::Busy`] when the queue is full or the wait too long.
    pub async fn enter(&self) -> Result<Place<'_>> {
        if let Ok(permit) = self.places.try_acquire() {
            return Ok(self.place(permit));
        }
        let queued = Queued::join(self);
        if queued.ahead >= self.queue {
            return Err(self.refuse());
        }
        match tokio::time::timeout(self.wait, self.places.acquire()).await {
            Ok(Ok(permit)) => Ok(self.place(permit)),
            _ => Err(self.refuse()),
        }
    }

    fn place<'a>(&'a self, permit: SemaphorePermit<'a>) -> Place<'a> {
        self.metrics.transactions.inc();
        Place {
            _permit: permit,
            metrics: &self.metrics,
        }
    }

    fn refuse(&self) -> Error {
        self.metrics.bulkhead_refusals.inc();
        Error::Busy
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.metrics.transactions.dec();
    }
}

/// A caller in the queue; dropped, also when its request is given up, it leaves the queue.
struct Queued<'a> {
    bulkhead: &'a Bulkhead,
    ahead: usize,
}

impl<'a> Queued<'a> {
    fn join(bulkhead: &'a Bulkhead) -> Self {
        bulkhead.metrics.bulkhead_queue.inc();
        Self {
            bulkhead,
            ahead: bulkhead.waiting.fetch_add(1, Ordering::SeqCst),
        }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.bulkhead.waiting.fetch_sub(1, Ordering::SeqCst);
        self.bulkhead.metrics.bulkhead_queue.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulkhead(transactions: usize, queue: usize) -> Bulkhead {
        let settings = settings::Bulkhead {
            transactions,
            queue,
            wait: Duration::from_secs(3),
        };
        Bulkhead::new(&settings, Arc::new(Metrics::new().expect("metrics")))
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_house_is_busy_after_the_wait() {
        let bulkhead = bulkhead(1, 10);
        let _inside = bulkhead.enter().await.expect("a place");

        let refused = bulkhead.enter().await;

        assert!(matches!(refused, Err(Error::Busy)));
        assert_eq!(bulkhead.metrics.bulkhead_queue.get(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_is_busy_at_once() {
        let bulkhead = bulkhead(1, 0);
        let _inside = bulkhead.enter().await.expect("a place");
        let start = tokio::time::Instant::now();

        let refused = bulkhead.enter().await;

        assert!(matches!(refused, Err(Error::Busy)));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_makes_room() {
        let bulkhead = bulkhead(1, 1);
        drop(bulkhead.enter().await);

        assert!(bulkhead.enter().await.is_ok());
    }
}

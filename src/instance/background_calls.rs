//! Calls that run in the background of one instance: a few at once, waited for at a shutdown.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many one instance makes at once.
const AT_ONCE: u32 = 16;

/// The calls under way at this instance.
#[derive(Debug, Clone)]
pub struct BackgroundCalls(Arc<Semaphore>);

impl Default for BackgroundCalls {
    fn default() -> Self {
        let places = usize::try_from(AT_ONCE).unwrap_or(1);
        Self(Arc::new(Semaphore::new(places)))
    }
}

impl BackgroundCalls {
    /// A place for one more; `None` when all are taken.
    pub fn try_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }

    /// Returns once no call is under way.
    pub async fn done(&self) {
        // Fails only when the semaphore is closed, which nobody does.
        let _all = self.0.acquire_many(AT_ONCE).await;
    }
}

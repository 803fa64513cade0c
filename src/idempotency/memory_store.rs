//! The store in this process, bounded: what has ended is swept, and when it is full old marks go first.

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::store::Store;

/// Below this many entries nothing is swept.
const SMALL: usize = 1_024;
/// This many are kept at most, the running ones aside: some 15 MB.
const FULL: usize = 50_000;
/// No claim or lock is given for longer: what lives on past this is the mark of something done, a hint.
const LONGEST_LEASE: Duration = Duration::from_mins(2);

/// A clone is the same store.
#[derive(Clone, Default)]
pub struct MemoryStore {
    entries: Arc<Mutex<Entries>>,
}

impl Store for MemoryStore {
    type Error = Infallible;

    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Duration,
    ) -> Result<Option<String>, Infallible> {
        let now = Instant::now();
        let mut entries = self.entries();
        let present = entries.live(key, now).map(ToOwned::to_owned);
        if present.is_none() {
            entries.put(key, value, ttl, now);
        }
        Ok(present)
    }

    async fn get(&self, key: &str) -> Result<Option<String>, Infallible> {
        Ok(self
            .entries()
            .live(key, Instant::now())
            .map(ToOwned::to_owned))
    }

    async fn compare_and_set(
        &self,
        key: &str,
        expected: &str,
        new: &str,
        ttl: Duration,
    ) -> Result<bool, Infallible> {
        let now = Instant::now();
        let mut entries = self.entries();
        let ours = entries.live(key, now) == Some(expected);
        if ours {
            entries.put(key, new, ttl, now);
        }
        Ok(ours)
    }

    async fn compare_and_delete(&self, key: &str, expected: &str) -> Result<bool, Infallible> {
        Ok(self.remove(key, expected))
    }
}

impl MemoryStore {
    /// `compare_and_delete` for those who cannot wait: destructors.
    pub fn remove(&self, key: &str, expected: &str) -> bool {
        let mut entries = self.entries();
        let ours = entries.live(key, Instant::now()) == Some(expected);
        if ours {
            entries.by_key.remove(key);
        }
        ours
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without the entries: their values are nobody's business in a log.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<String, Entry>,
    /// How many entries call for the next sweep; at least twice what the last one left, so that its cost is spread.
    sweep_at: usize,
}

struct Entry {
    value: String,
    ends: Instant,
}

impl Entries {
    fn live(&self, key: &str, now: Instant) -> Option<&str> {
        let entry = self.by_key.get(key)?;
        (now < entry.ends).then_some(entry.value.as_str())
    }

    fn put(&mut self, key: &str, value: &str, ttl: Duration, now: Instant) {
        if self.by_key.len() >= self.sweep_at.max(SMALL) {
            self.sweep(now);
        }
        self.by_key.insert(
            key.to_owned(),
            Entry {
                value: value.to_owned(),
                ends: now + ttl,
            },
        );
    }

    fn sweep(&mut self, now: Instant) {
        self.by_key.retain(|_, entry| now < entry.ends);
        if self.by_key.len() > FULL / 2 {
            self.forget_marks(now);
        }
        self.sweep_at = 2 * self.by_key.len();
    }

    /// Down to half of [`FULL`], marks that end first going first. Leases stay, however many there are.
    fn forget_marks(&mut self, now: Instant) {
        let mut ends: Vec<_> = self.by_key.values().map(|entry| entry.ends).collect();
        let surplus = ends.len() - FULL / 2;
        let (_, last, _) = ends.select_nth_unstable(surplus);
        let (lease, last) = (now + LONGEST_LEASE, *last);
        self.by_key
            .retain(|_, entry| entry.ends <= lease || last < entry.ends);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use tokio::time::advance;

    use super::*;

    const LEASE: Duration = Duration::from_secs(10);
    const MARK: Duration = Duration::from_hours(1);

    async fn fill(store: &MemoryStore, numbers: Range<usize>, ttl: Duration) {
        for number in numbers {
            let key = number.to_string();
            assert_eq!(store.set_if_absent(&key, "value", ttl).await, Ok(None));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn entries_that_have_ended_are_swept() {
        let store = MemoryStore::default();

        for round in 0..10 {
            fill(&store, round * SMALL..(round + 1) * SMALL, LEASE).await;
            advance(LEASE).await;
        }

        assert!(store.entries().by_key.len() <= SMALL);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_store_forgets_marks_before_leases() {
        let store = MemoryStore::default();
        let leases = 0..1_000;
        fill(&store, leases.clone(), LEASE).await;

        fill(&store, 1_000..3 * FULL, MARK).await;

        assert!(store.entries().by_key.len() <= FULL);
        for number in leases {
            let claim = store.get(&number.to_string()).await;
            assert_eq!(claim, Ok(Some("value".to_owned())), "{number}");
        }
    }
}

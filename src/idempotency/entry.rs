//! What this process put into a store: it is ended in the store that has it, and given back when it is dropped.

use std::time::Duration;

use tokio::runtime::Handle;

use super::{
    memory_store::MemoryStore,
    redis_store::RedisStore,
    store::{Store, StoreDown},
};

/// What became of the wish to have a key.
pub enum Taken {
    Ours(Entry),
    /// Another has it, under this value.
    Theirs(String),
}

/// The store that has an entry.
#[derive(Debug)]
pub enum Place {
    Redis(RedisStore),
    Process(MemoryStore),
}

/// A key that holds our value. Dropped before its end (a panic, a cancelled future), it is taken out of the store by
/// best effort, and by its lifetime at the latest.
#[derive(Debug)]
pub struct Entry {
    place: Place,
    key: String,
    value: String,
    ended: bool,
}

impl Entry {
    /// Takes `key` in `store`. When the store is down the key may have been taken all the same: it ends by `ttl`.
    pub async fn take<S>(
        store: &S,
        key: &str,
        value: &str,
        ttl: Duration,
    ) -> Result<Taken, S::Error>
    where
        S: Store + Clone + Into<Place>,
    {
        // Made before the call, so that a caller who vanishes during it gives back what he may have got.
        let mut entry = Self {
            place: store.clone().into(),
            key: key.to_owned(),
            value: value.to_owned(),
            ended: false,
        };
        let answer = store.set_if_absent(key, value, ttl).await;
        entry.ended = !matches!(answer, Ok(None));
        Ok(match answer? {
            None => Taken::Ours(entry),
            Some(theirs) => Taken::Theirs(theirs),
        })
    }

    /// Prolongs it to `ttl` from now; false when it is no longer ours.
    pub async fn renew(&self, ttl: Duration) -> Result<bool, StoreDown> {
        self.set(&self.value, ttl).await
    }

    /// Leaves `value` there for `ttl`. Nothing happens if the entry is no longer ours or its store is down.
    pub async fn replace(mut self, value: &str, ttl: Duration) {
        // Down: the entry ends by itself, and trying again would keep the caller waiting for a hint.
        let _ = self.set(value, ttl).await;
        self.ended = true;
    }

    /// Frees the key. Nothing happens if the entry is no longer ours or its store is down.
    pub async fn remove(mut self) {
        match &self.place {
            Place::Redis(store) => {
                let _ = store.compare_and_delete(&self.key, &self.value).await;
            }
            Place::Process(store) => {
                store.remove(&self.key, &self.value);
            }
        }
        self.ended = true;
    }

    async fn set(&self, value: &str, ttl: Duration) -> Result<bool, StoreDown> {
        match &self.place {
            Place::Redis(store) => {
                store
                    .compare_and_set(&self.key, &self.value, value, ttl)
                    .await
            }
            Place::Process(store) => {
                let Ok(done) = store
                    .compare_and_set(&self.key, &self.value, value, ttl)
                    .await;
                Ok(done)
            }
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        match &self.place {
            Place::Process(store) => {
                store.remove(&self.key, &self.value);
            }
            Place::Redis(store) => {
                let (store, key, value) = (store.clone(), self.key.clone(), self.value.clone());
                if let Ok(runtime) = Handle::try_current() {
                    runtime.spawn(async move { store.compare_and_delete(&key, &value).await });
                }
            }
        }
    }
}

impl From<RedisStore> for Place {
    fn from(store: RedisStore) -> Self {
        Self::Redis(store)
    }
}

impl From<MemoryStore> for Place {
    fn from(store: MemoryStore) -> Self {
        Self::Process(store)
    }
}

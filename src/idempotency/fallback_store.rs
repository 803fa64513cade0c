//! Where gate and locks keep their entries: Redis, or this process when there is no Redis or it is away.
//!
//! What is guaranteed: of the callers that one store serves, one at a time holds a key. While Redis comes or goes, two
//! holders of one key are possible, one in each store; nothing more is needed, since the database decides and an entry
//! only spares it work.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::entry::{Entry, Taken};
use super::memory_store::MemoryStore;
use super::redis_store::RedisStore;
use super::store::{RedisSettings, Store, StoreDown};
use crate::metrics::Metrics;

/// The one store of a process; a clone is the same store.
#[derive(Clone)]
pub struct FallbackStore {
    redis: Option<RedisStore>,
    memory: MemoryStore,
    prefix: Arc<str>,
    metrics: Arc<Metrics>,
}

impl FallbackStore {
    /// Everything in this process: for one instance.
    pub fn in_process(metrics: Arc<Metrics>) -> Self {
        Self {
            redis: None,
            memory: MemoryStore::default(),
            prefix: Arc::from(""),
            metrics,
        }
    }

    /// Redis, and this process while Redis is away. Nothing is connected yet, so Redis may be down. Fails, with a
    /// sentence for the operator, when the URL cannot be understood.
    pub fn redis(settings: &RedisSettings, metrics: Arc<Metrics>) -> Result<Self, String> {
        Ok(Self {
            redis: Some(RedisStore::new(settings, Arc::clone(&metrics))?),
            memory: MemoryStore::default(),
            prefix: Arc::from(settings.key_prefix.as_str()),
            metrics,
        })
    }

    /// Whether entries are shared with the other instances at this moment; in process there are no others: true.
    pub async fn is_reachable(&self) -> bool {
        match &self.redis {
            Some(redis) => redis.get(&self.key("health", "")).await.is_ok(),
            None => true,
        }
    }

    /// Takes `key` for `ttl`, or answers the value under which another has it. Never fails: what Redis does not answer
    /// is served in this process.
    ///
    /// An entry that was taken in process during an outage still counts here when Redis is back.
    pub(super) async fn take(&self, key: &str, value: &str, ttl: Duration) -> Taken {
        if let Some(redis) = &self.redis {
            if let Ok(Some(theirs)) = self.memory.get(key).await {
                return Taken::Theirs(theirs);
            }
            match Entry::take(redis, key, value, ttl).await {
                Ok(taken) => return taken,
                Err(StoreDown) => self.metrics.store_fallbacks.inc(),
            }
        }
        let Ok(taken) = Entry::take(&self.memory, key, value, ttl).await;
        taken
    }

    /// The key for `text`, which may come from a client: hashed, it can neither forge a key nor be read in Redis.
    pub(super) fn key(&self, kind: &str, text: &str) -> String {
        let mut key = format!("{}{kind}:", self.prefix);
        for byte in Sha256::digest(text) {
            let _ = write!(key, "{byte:02x}");
        }
        key
    }
}

impl fmt::Debug for FallbackStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.redis.is_some() {
            "Redis"
        } else {
            "in process"
        };
        f.debug_tuple("FallbackStore").field(&place).finish()
    }
}

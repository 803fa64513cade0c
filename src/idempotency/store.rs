//! What a store of keys has to be able to do: in Redis and in process alike.

use std::fmt;
use std::time::Duration;

/// Redis did not answer: an error, a time-out, or the breaker is open. What was asked for may have happened all the
/// same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store is down")]
pub struct StoreDown;

/// Four atomic primitives over keys whose values end by themselves after `ttl`. Each is one round trip.
pub trait Store: Send + Sync {
    /// Why a call was not served.
    type Error;

    /// `None` when it was absent and is now `value`; otherwise what is there, unchanged.
    fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Duration,
    ) -> impl Future<Output = Result<Option<String>, Self::Error>> + Send;

    /// What is there now.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<String>, Self::Error>> + Send;

    /// Whether `expected` was there; if so it is now `new`, for `ttl` from now on.
    fn compare_and_set(
        &self,
        key: &str,
        expected: &str,
        new: &str,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Whether `expected` was there; if so the key is now absent.
    fn compare_and_delete(
        &self,
        key: &str,
        expected: &str,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;
}

/// How Redis is reached.
#[derive(Clone)]
pub struct RedisSettings {
    /// `redis://` or, with TLS, `rediss://`.
    pub url: String,
    /// What every key starts with, so that services can share one Redis.
    pub key_prefix: String,
    /// The most that one call may take, connecting included.
    pub timeout: Duration,
}

/// Without the URL, which can hold a password.
impl fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSettings")
            .field("key_prefix", &self.key_prefix)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

//! The store in Redis (6.2 or newer), behind a breaker.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deadpool_redis::{Connection, Manager, Pool};
use log::{info, warn};
use redis::{
    AsyncCommands, AsyncConnectionConfig, RedisResult, Script, aio::MultiplexedConnection,
};
use tokio::{sync::Mutex as AsyncMutex, time::timeout};

use super::{
    breaker::{Admission, Breaker},
    store::{RedisSettings, Store, StoreDown},
};
use crate::metrics::Metrics;

/// A clone is the same store.
#[derive(Clone)]
pub struct RedisStore {
    link: Arc<Link>,
    scripts: Arc<Scripts>,
}

/// Each is sent by its hash; Redis learns its text at the first call after a restart.
struct Scripts {
    set_if_absent: Script,
    compare_and_set: Script,
    compare_and_delete: Script,
}

/// The way to one Redis.
struct Link {
    pool: Pool,
    /// The pool tests a connection by PING whenever it hands one out, which would double the round trips. A multiplexed
    /// connection serves all callers at once, so one is taken out of the pool and used until it fails.
    current: Mutex<Current>,
    /// Held while a connection is made, so that a crowd makes one.
    connecting: AsyncMutex<()>,
    breaker: Breaker,
    timeout: Duration,
    probe_key: String,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Current {
    connection: Option<MultiplexedConnection>,
    /// Goes up with each connection, so that a late error of an old one does not cost the new one.
    number: u64,
}

impl RedisStore {
    /// Connects at the first call. Fails, with a sentence, when the URL cannot be understood.
    pub fn new(settings: &RedisSettings, metrics: Arc<Metrics>) -> Result<Self, String> {
        // Link::attempt bounds the whole of a call; time-outs of parts would only hide that one.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None);
        let pool = Manager::new_with_config(settings.url.as_str(), config)
            .map_err(|error| format!("redis.url cannot be used: {error}"))
            .and_then(|manager| {
                let pool = Pool::builder(manager).max_size(1).build();
                pool.map_err(|error| format!("no connections to Redis can be made: {error}"))
            })?;
        let link = Link {
            pool,
            current: Mutex::default(),
            connecting: AsyncMutex::default(),
            breaker: Breaker::new(metrics.breaker_open.clone()),
            timeout: settings.timeout,
            probe_key: format!("{}probe", settings.key_prefix),
            metrics,
        };
        let scripts = Scripts {
            set_if_absent: Script::new(include_str!("set_if_absent.lua")),
            compare_and_set: Script::new(include_str!("compare_and_set.lua")),
            compare_and_delete: Script::new(include_str!("compare_and_delete.lua")),
        };
        Ok(Self {
            link: Arc::new(link),
            scripts: Arc::new(scripts),
        })
    }
}

impl Store for RedisStore {
    type Error = StoreDown;

    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Duration,
    ) -> Result<Option<String>, StoreDown> {
        let mut script = self.scripts.set_if_absent.key(key);
        script.arg(value).arg(millis(ttl));
        self.link
            .call(|mut redis| async move { script.invoke_async(&mut redis).await })
            .await
    }

    async fn get(&self, key: &str) -> Result<Option<String>, StoreDown> {
        self.link
            .call(|mut redis| async move { redis.get(key).await })
            .await
    }

    async fn compare_and_set(
        &self,
        key: &str,
        expected: &str,
        new: &str,
        ttl: Duration,
    ) -> Result<bool, StoreDown> {
        let mut script = self.scripts.compare_and_set.key(key);
        script.arg(expected).arg(new).arg(millis(ttl));
        self.link
            .call(|mut redis| async move { script.invoke_async(&mut redis).await })
            .await
    }

    async fn compare_and_delete(&self, key: &str, expected: &str) -> Result<bool, StoreDown> {
        let mut script = self.scripts.compare_and_delete.key(key);
        script.arg(expected);
        self.link
            .call(|mut redis| async move { script.invoke_async(&mut redis).await })
            .await
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("breaker", &self.link.breaker)
            .finish_non_exhaustive()
    }
}

impl Link {
    /// One command, or [`StoreDown`] at once while the breaker is open.
    async fn call<T, F>(
        self: &Arc<Self>,
        command: impl FnOnce(MultiplexedConnection) -> F + Send,
    ) -> Result<T, StoreDown>
    where
        F: Future<Output = RedisResult<T>> + Send,
    {
        match self.breaker.admission() {
            Admission::Call => self.attempt(command).await,
            Admission::Refused => Err(StoreDown),
            Admission::ProbeDue => {
                let link = Arc::clone(self);
                tokio::spawn(async move { link.probe().await });
                Err(StoreDown)
            }
        }
    }

    /// Apart from the calls, so that none of them has to wait for it. It writes: a full Redis, or one that became a
    /// replica, still reads.
    async fn probe(&self) {
        let written = self.attempt(|mut redis| async move {
            redis.pset_ex::<_, _, ()>(&self.probe_key, "", 1).await
        });
        if written.await.is_ok() {
            info!("Redis is back");
        }
    }

    async fn attempt<T, F>(
        &self,
        command: impl FnOnce(MultiplexedConnection) -> F + Send,
    ) -> Result<T, StoreDown>
    where
        F: Future<Output = RedisResult<T>> + Send,
    {
        let mut used = None;
        let answer = timeout(self.timeout, async {
            let (connection, number) = self.connection().await?;
            used = Some(number);
            command(connection).await.map_err(|error| error.to_string())
        });
        let in_time = answer.await;
        match in_time.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(value) => {
                self.breaker.succeeded();
                Ok(value)
            }
            Err(cause) => {
                self.failed(used, &cause);
                Err(StoreDown)
            }
        }
    }

    /// The connection that all use; made now if there is none.
    async fn connection(&self) -> Result<(MultiplexedConnection, u64), String> {
        if let Some(current) = self.current().connected() {
            return Ok(current);
        }
        let _turn = self.connecting.lock().await;
        if let Some(made_meanwhile) = self.current().connected() {
            return Ok(made_meanwhile);
        }
        // Rare and large: boxed, so that the future of every claim and lock stays small.
        let fresh = Box::pin(self.pool.get())
            .await
            .map_err(|error| error.to_string())?;
        let fresh = Connection::take(fresh);
        let mut current = self.current();
        current.connection = Some(fresh.clone());
        current.number += 1;
        Ok((fresh, current.number))
    }

    fn failed(&self, used: Option<u64>, cause: &str) {
        self.metrics.store_errors.inc();
        if self.breaker.failed() {
            warn!(cause = cause; "Redis is away: gate and locks are served in this process");
        }
        let mut current = self.current();
        if used == Some(current.number) {
            current.connection = None;
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn connected(&self) -> Option<(MultiplexedConnection, u64)> {
        self.connection
            .clone()
            .map(|connection| (connection, self.number))
    }
}

fn millis(ttl: Duration) -> u64 {
    // Redis refuses a lifetime of nothing.
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1)
}

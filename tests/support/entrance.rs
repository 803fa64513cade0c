//! A gate and locks over a store of the test's own, and scenarios run over both stores.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use order_service::{
    idempotency::{fallback_store::*, gate::*, lock::*, store::*},
    metrics::Metrics,
};
use tokio::time::{sleep, timeout};

use super::redis_server::RedisServer;

/// Far longer than any test.
pub const LONG: Duration = Duration::from_mins(10);
/// Short enough that a test can see it end, long enough for a busy machine to renew it in time.
pub const SHORT: Duration = Duration::from_millis(1_200);
/// A wait for what comes within a moment.
pub const PATIENT: Duration = Duration::from_secs(20);
/// Exactly one try.
pub const AT_ONCE: Duration = Duration::ZERO;

pub const PREFIX: &str = "order-service-test:";

/// What one instance of the service has at its entrance.
#[derive(Clone)]
pub struct Entrance {
    pub store: FallbackStore,
    pub gate: Gate,
    pub locks: Locks,
    pub metrics: Arc<Metrics>,
    lost: Arc<Mutex<Vec<String>>>,
}

impl Entrance {
    pub fn in_process() -> Self {
        let metrics = Arc::new(Metrics::new().unwrap());
        Self::over(FallbackStore::in_process(Arc::clone(&metrics)), metrics)
    }

    /// Waits long for Redis: a busy machine is no outage.
    pub fn redis(server: &RedisServer) -> Self {
        Self::redis_within(Duration::from_secs(10), server)
    }

    /// Calls to Redis time out after `timeout`.
    pub fn redis_within(timeout: Duration, server: &RedisServer) -> Self {
        let metrics = Arc::new(Metrics::new().unwrap());
        let settings = RedisSettings {
            url: server.url(),
            key_prefix: PREFIX.to_owned(),
            timeout,
        };
        let store = FallbackStore::redis(&settings, Arc::clone(&metrics)).unwrap();
        Self::over(store, metrics)
    }

    fn over(store: FallbackStore, metrics: Arc<Metrics>) -> Self {
        let lost = Arc::default();
        Self {
            gate: Gate::new(store.clone()),
            locks: locks(&store, LockSettings::default(), &metrics, &lost),
            store,
            metrics,
            lost,
        }
    }

    /// The same locks with other times.
    pub fn with(&self, settings: LockSettings) -> Self {
        let locks = locks(&self.store, settings, &self.metrics, &self.lost);
        Self {
            locks,
            ..self.clone()
        }
    }

    /// The same locks with a short lease.
    pub fn with_lease(&self, lease: Duration) -> Self {
        self.with(LockSettings {
            lease,
            ..LockSettings::default()
        })
    }

    /// The same store, counted apart.
    pub fn counted_apart(&self) -> Self {
        Self::over(self.store.clone(), Arc::new(Metrics::new().unwrap()))
    }

    pub async fn claim(&self, key: &str) -> Claim {
        self.gate.claim(key, "print", LONG).await
    }

    /// A claim that is expected to be let in.
    pub async fn acquired(&self, key: &str) -> GateGuard {
        match self.claim(key).await {
            Claim::Acquired(guard) => guard,
            other => panic!("{key} is free, not {other:?}"),
        }
    }

    /// The names that the hook heard.
    pub fn lost(&self) -> Vec<String> {
        self.lost.lock().unwrap().clone()
    }
}

fn locks(
    store: &FallbackStore,
    settings: LockSettings,
    metrics: &Arc<Metrics>,
    lost: &Arc<Mutex<Vec<String>>>,
) -> Locks {
    let lost = Arc::clone(lost);
    Locks::new(store.clone(), settings, Arc::clone(metrics)).on_lost(Arc::new(move |name| {
        lost.lock().unwrap().push(name.to_owned());
    }))
}

/// Waits for `condition`; fails the test when it does not come in ten seconds.
pub async fn eventually(condition: impl AsyncFn() -> bool) {
    eventually_within(Duration::from_secs(10), condition).await;
}

/// The same for what may take longer, on a busy machine.
pub async fn eventually_within(limit: Duration, condition: impl AsyncFn() -> bool) {
    let met = async {
        while !condition().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(limit, met)
        .await
        .expect("the condition is met in time");
}

/// How many of `claims` were let in.
pub fn let_in(claims: &[Claim]) -> usize {
    claims
        .iter()
        .filter(|claim| matches!(claim, Claim::Acquired(_)))
        .count()
}

/// Makes a test over each store of scenarios that take an [`Entrance`]. In process the clock stands until all wait.
macro_rules! in_both_stores {
    ($($scenario:ident,)*) => {
        mod in_process {
            $(#[tokio::test(start_paused = true)]
            async fn $scenario() {
                super::$scenario(crate::support::entrance::Entrance::in_process()).await;
            })*
        }

        mod redis_store {
            $(#[tokio::test]
            async fn $scenario() {
                let server = crate::support::redis_server::RedisServer::start();
                super::$scenario(crate::support::entrance::Entrance::redis(&server)).await;
            })*
        }
    };
}
pub(crate) use in_both_stores;

//! What every use case is given: settings, clock, database, gate and locks, ids, gateways, metrics.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::database::{Access, Database};
use crate::error::{Error, Result};
use crate::events::{BrokerSettings, EventBus, InProcess, RabbitMq};
use crate::gateways::{Gateways, PaymentGateway, Sandbox};
use crate::idempotency::fallback_store::FallbackStore;
use crate::idempotency::gate::Gate;
use crate::idempotency::lock::{LockSettings, Locks};
use crate::idempotency::store::RedisSettings;
use crate::instance::background_calls::BackgroundCalls;
use crate::instance::late_runs::LateRuns;
use crate::instance::order_ids::OrderIds;
use crate::metrics::Metrics;
use crate::services::operations::alerts;
use crate::settings::Settings;

/// One instance of the service.
#[derive(Debug)]
pub struct App {
    pub settings: Settings,
    pub clock: Clock,
    pub metrics: Arc<Metrics>,
    pub db: Database,
    pub store: FallbackStore,
    pub gate: Gate,
    pub locks: Locks,
    pub ids: OrderIds,
    pub bus: EventBus,
    pub background_calls: BackgroundCalls,
    pub late_runs: LateRuns,
    instance: String,
    stopping: watch::Sender<bool>,
    gateways: Gateways,
}

impl App {
    /// Connects; Redis may be away, the database may not.
    pub async fn new(settings: Settings, clock: Clock) -> Result<Self> {
        Self::with(settings, clock, Access::Exclusive).await
    }

    /// The same for a command that may run while a server serves.
    pub async fn beside(settings: Settings, clock: Clock) -> Result<Self> {
        Self::with(settings, clock, Access::Beside).await
    }

    async fn with(settings: Settings, clock: Clock, access: Access) -> Result<Self> {
        let metrics = Metrics::new().map_err(|error| Error::Start(error.to_string()))?;
        let metrics = Arc::new(metrics);
        let db = Database::connect(&settings, access, Arc::clone(&metrics)).await?;
        let store = fallback_store(&settings, &metrics)?;
        let gate = Gate::new(store.clone());
        let locks = Locks::new(
            store.clone(),
            lock_settings(&settings),
            Arc::clone(&metrics),
        )
        .on_lost(alerts::on_lock_lost(db.clone(), clock.clone()));
        let ids = OrderIds::new(db.clone(), clock.clone(), settings.ids.lease);
        let bus = event_bus(&settings)?;
        let gateways = Gateways::set_up(&settings, &db, &clock)?;
        Ok(Self {
            settings,
            clock,
            metrics,
            db,
            store,
            gate,
            locks,
            ids,
            bus,
            background_calls: BackgroundCalls::default(),
            late_runs: LateRuns::default(),
            instance: Uuid::new_v4().to_string(),
            stopping: watch::Sender::new(false),
            gateways,
        })
    }

    /// The name by which this instance holds leases; another after each start.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Asks everything that runs by itself to end at its next safe point.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns once this instance is asked to stop.
    pub async fn stopped(&self) {
        // Fails only when nobody can ask any more: the sender lives as long as the app.
        let _ = self
            .stopping
            .subscribe()
            .wait_for(|stopping| *stopping)
            .await;
    }

    /// Until when a bearer token of the development sign-in lives.
    pub fn development_sign_in_ends(&self) -> DateTime<Utc> {
        let ttl = self.settings.auth.dev_token_ttl;
        self.clock.now() + TimeDelta::from_std(ttl).unwrap_or(TimeDelta::hours(1))
    }

    /// The gateway of that name; [`Error::NotFound`] where it is not set up.
    pub fn gateway(&self, name: &str) -> Result<&dyn PaymentGateway> {
        self.gateways.named(name)
    }

    /// The sandbox itself, for its cashier and its messages; [`Error::NotFound`] where there is none.
    pub fn sandbox(&self) -> Result<&Sandbox> {
        self.gateways.sandbox()
    }
}

fn fallback_store(settings: &Settings, metrics: &Arc<Metrics>) -> Result<FallbackStore> {
    if settings.redis.url.is_empty() {
        return Ok(FallbackStore::in_process(Arc::clone(metrics)));
    }
    let redis = RedisSettings {
        url: settings.redis.url.to_string(),
        key_prefix: settings.redis.key_prefix.clone(),
        timeout: settings.redis.timeout,
    };
    FallbackStore::redis(&redis, Arc::clone(metrics))
        .map_err(|problem| Error::Start(format!("ORDER__REDIS__URL cannot be used: {problem}")))
}

fn event_bus(settings: &Settings) -> Result<EventBus> {
    let rabbitmq = &settings.rabbitmq;
    if rabbitmq.url.is_empty() {
        return Ok(EventBus::InProcess(InProcess));
    }
    let broker = BrokerSettings {
        url: rabbitmq.url.to_string(),
        prefix: rabbitmq.prefix.clone(),
        prefetch: rabbitmq.prefetch,
        timeout: rabbitmq.timeout,
    };
    RabbitMq::new(broker)
        .map(EventBus::RabbitMq)
        .map_err(|problem| Error::Start(format!("ORDER__RABBITMQ__URL cannot be used: {problem}")))
}

const fn lock_settings(settings: &Settings) -> LockSettings {
    let lock = &settings.lock;
    LockSettings {
        lease: lock.lease,
        wait: lock.wait,
        hold: lock.hold,
    }
}

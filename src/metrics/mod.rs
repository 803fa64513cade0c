//! What operators watch: one registry per process, rendered at `/metrics` in the Prometheus text format.

mod database;
mod events;
mod jobs;
mod register;

use prometheus::{
    Encoder, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, Registry, TextEncoder,
};

pub use database::DatabaseMetrics;
pub use events::{Backlog, EventMetrics};
pub use jobs::JobMetrics;
use register::{counter, counters, gauge, histograms, seconds};

/// The layer that caught a repeat; the label `layer` of `idempotency_intercepts_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    Token,
    Gate,
    IdempotencyRecord,
    OrderUnique,
    Lock,
    CallbackUnique,
    StateMachine,
    ConsumeLog,
}

impl Layer {
    /// The label's value; operators' queries depend on it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Gate => "gate",
            Self::IdempotencyRecord => "idempotency_record",
            Self::OrderUnique => "order_unique",
            Self::Lock => "lock",
            Self::CallbackUnique => "callback_unique",
            Self::StateMachine => "state_machine",
            Self::ConsumeLog => "consume_log",
        }
    }
}

/// Every number of the service. Times are in seconds.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    intercepts: IntCounterVec,
    /// How long a lock was waited for.
    pub lock_wait: Histogram,
    /// Locks that another still held at the end of the wait.
    pub lock_timeouts: IntCounter,
    /// Leases that a watchdog renewed.
    pub lock_renewals: IntCounter,
    /// Leases that ended or passed to another while their holder was still at work.
    pub lock_lost: IntCounter,
    /// Calls to Redis that failed or timed out.
    pub store_errors: IntCounter,
    /// Calls that the in-process store answered because Redis was away.
    pub store_fallbacks: IntCounter,
    /// 0 closed (Redis is used), 1 open (the in-process store serves).
    pub breaker_open: IntGauge,
    /// Transactions under way at this instance.
    pub transactions: IntGauge,
    /// Requests that wait for a place among the transactions.
    pub bulkhead_queue: IntGauge,
    /// Requests that found no place in time and heard 503.
    pub bulkhead_refusals: IntCounter,
    /// Transactions run again after a deadlock, a lock wait or a busy database.
    pub transaction_retries: IntCounter,
    /// From BEGIN to the end of COMMIT, one try.
    pub transaction_seconds: Histogram,
    pub database: DatabaseMetrics,
    pub events: EventMetrics,
    pub backlog: Backlog,
    pub jobs: JobMetrics,
    callbacks: IntCounterVec,
    callbacks_rejected: IntCounterVec,
    http_seconds: HistogramVec,
}

impl Metrics {
    /// Fails when two metrics share a name, which the start shows at once.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let r = &registry;
        let (callbacks, callbacks_rejected) = callback_counters(r)?;
        Ok(Self {
            intercepts: counters(
                r,
                "idempotency_intercepts_total",
                "Repeats, by the layer that caught them.",
                &["layer", "operation"],
            )?,
            lock_wait: seconds(r, "lock_wait_seconds", "How long a lock was waited for.")?,
            lock_timeouts: counter(
                r,
                "lock_timeouts_total",
                "Locks not obtained within the wait.",
            )?,
            lock_renewals: counter(r, "lock_renewals_total", "Leases renewed by a watchdog.")?,
            lock_lost: counter(
                r,
                "lock_lost_total",
                "Leases lost while the holder was at work.",
            )?,
            store_errors: counter(r, "redis_errors_total", "Calls to Redis that failed.")?,
            store_fallbacks: counter(
                r,
                "redis_fallbacks_total",
                "Calls answered in process because Redis was away.",
            )?,
            breaker_open: gauge(r, "redis_breaker_open", "1 while Redis is left alone.")?,
            transactions: gauge(r, "database_transactions", "Transactions under way.")?,
            bulkhead_queue: gauge(r, "bulkhead_queue", "Requests waiting for a transaction.")?,
            bulkhead_refusals: counter(r, "bulkhead_refusals_total", "Requests refused with 503.")?,
            transaction_retries: counter(
                r,
                "database_transaction_retries_total",
                "Transactions run again.",
            )?,
            transaction_seconds: seconds(
                r,
                "database_transaction_seconds",
                "One try of a transaction, BEGIN to COMMIT.",
            )?,
            database: DatabaseMetrics::new(r)?,
            events: EventMetrics::new(r)?,
            backlog: Backlog::new(r)?,
            jobs: JobMetrics::new(r)?,
            callbacks,
            callbacks_rejected,
            http_seconds: histograms(
                r,
                "http_request_seconds",
                "Requests by route and status.",
                &["method", "route", "status"],
            )?,
            registry,
        })
    }

    /// Counts a repeat that `layer` caught.
    pub fn intercepted(&self, layer: Layer, operation: &str) {
        self.intercepts
            .with_label_values(&[layer.name(), operation])
            .inc();
    }

    /// How many repeats `layer` caught for `operation` since the start.
    pub fn intercepts(&self, layer: Layer, operation: &str) -> u64 {
        self.intercepts
            .with_label_values(&[layer.name(), operation])
            .get()
    }

    /// Counts a signed message by what came of it.
    pub fn callback_answered(&self, outcome: &str) {
        self.callbacks.with_label_values(&[outcome]).inc();
    }

    /// Counts a delivery that was not taken in.
    pub fn callback_rejected(&self, reason: &str) {
        self.callbacks_rejected.with_label_values(&[reason]).inc();
    }

    /// How many deliveries were not taken in for `reason`.
    pub fn callbacks_rejected(&self, reason: &str) -> u64 {
        self.callbacks_rejected.with_label_values(&[reason]).get()
    }

    /// Notes one answered request.
    pub fn answered(&self, method: &str, route: &str, status: u16, seconds: f64) {
        self.http_seconds
            .with_label_values(&[method, route, &status.to_string()])
            .observe(seconds);
    }

    /// Everything in the Prometheus text format.
    pub fn render(&self) -> Result<String, prometheus::Error> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

fn callback_counters(
    registry: &Registry,
) -> Result<(IntCounterVec, IntCounterVec), prometheus::Error> {
    let answered = counters(
        registry,
        "payment_callbacks_total",
        "Signed messages of gateways, by what came of them.",
        &["outcome"],
    )?;
    let rejected = counters(
        registry,
        "payment_callbacks_rejected_total",
        "Deliveries that were not taken in: forged, stale or malformed.",
        &["reason"],
    )?;
    Ok((answered, rejected))
}

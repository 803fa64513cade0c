//! The numbers of the outbox, the bus and the consumers.

use prometheus::{IntCounter, IntCounterVec, IntGauge, Registry};

use super::register::{counter, counters, gauge};

/// What happened to events at this instance since its start.
#[derive(Debug)]
pub struct EventMetrics {
    /// Events that were handed over to the bus.
    pub published: IntCounter,
    /// Events that the bus did not take; they wait in the outbox.
    pub publish_failures: IntCounter,
    /// Messages that consumers are at.
    pub in_progress: IntGauge,
    consumed: IntCounterVec,
}

impl EventMetrics {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        Ok(Self {
            published: counter(
                registry,
                "events_published_total",
                "Events handed over to the bus.",
            )?,
            publish_failures: counter(
                registry,
                "event_publish_failures_total",
                "Events that the bus did not take; they wait in the outbox.",
            )?,
            in_progress: gauge(
                registry,
                "messages_in_progress",
                "Messages that consumers are at.",
            )?,
            consumed: counters(
                registry,
                "messages_consumed_total",
                "Messages, by consumer and what came of them.",
                &["consumer", "result"],
            )?,
        })
    }

    /// Counts a message by what came of it: `applied`, `nothing`, `duplicate`, `failed`.
    pub fn consumed(&self, consumer: &str, result: &str) {
        self.consumed.with_label_values(&[consumer, result]).inc();
    }

    /// How many messages of a consumer ended so.
    pub fn count(&self, consumer: &str, result: &str) -> u64 {
        self.consumed.with_label_values(&[consumer, result]).get()
    }
}

/// What waits in the database, of all instances together, as it was when it was last counted.
#[derive(Debug)]
pub struct Backlog {
    /// Events that were not handed over.
    pub outbox_events: IntGauge,
    /// How long the oldest of them waits, in seconds.
    pub outbox_lag: IntGauge,
    /// Messages that failed and are tried again.
    pub failing_messages: IntGauge,
    /// Messages that nobody tries any more.
    pub dead_messages: IntGauge,
    /// Callbacks that wait for another message.
    pub parked_callbacks: IntGauge,
    /// Alerts that nobody has acknowledged.
    pub open_alerts: IntGauge,
    /// Messages that this instance could not read, since its start.
    pub unreadable: IntGauge,
    /// 1 while messages can be handed over.
    pub bus_reachable: IntGauge,
    /// 1 while the broker takes connections and confirms nothing.
    pub bus_blocked: IntGauge,
}

impl Backlog {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let gauge = |name, help| gauge(registry, name, help);
        Ok(Self {
            outbox_events: gauge("outbox_events", "Events not yet handed over.")?,
            outbox_lag: gauge(
                "outbox_lag_seconds",
                "Age of the oldest event not handed over.",
            )?,
            failing_messages: gauge("failing_messages", "Failed messages that are tried again.")?,
            dead_messages: gauge(
                "dead_messages",
                "Failed messages that wait for an operator.",
            )?,
            parked_callbacks: gauge(
                "parked_callbacks",
                "Callbacks that wait for another message.",
            )?,
            open_alerts: gauge("open_alerts", "Alerts that nobody has acknowledged.")?,
            unreadable: gauge("unreadable_messages", "Messages that could not be read.")?,
            bus_blocked: gauge(
                "event_bus_blocked",
                "1 while the broker takes connections and confirms nothing.",
            )?,
            bus_reachable: gauge("event_bus_reachable", "1 while events can be handed over.")?,
        })
    }
}

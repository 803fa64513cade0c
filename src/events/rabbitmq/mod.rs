//! The bus over RabbitMQ: one topic exchange, and one durable quorum queue for each consumer.
//!
//! `publisher` publishes and waits for confirmations; `deliverer` keeps a `session` that consumes the queues; both open
//! their connections through `broker`, which declares the `topology` first.

mod broker;
mod broker_settings;
mod deliverer;
mod greeting;
mod pauses;
mod publisher;
mod session;
mod topology;

use std::sync::atomic::{AtomicU64, Ordering};

use super::bus::{Bus, Message, NotHandedOver};
use crate::domain::events::Consumer;
use crate::error::Result;
use broker::Broker;
pub use broker_settings::BrokerSettings;
use deliverer::Deliverer;
use publisher::Publisher;

/// The adapter for a broker, which may be away at any time: events that are not handed over stay in the outbox.
#[derive(Debug)]
pub struct RabbitMq {
    broker: Box<Broker>,
    publisher: Box<Publisher>,
    deliverer: Deliverer,
    /// How many messages arrived with a body that is not in our format; each was acknowledged.
    unreadable: AtomicU64,
}

impl RabbitMq {
    /// Checks the settings only; the first connection is made when it is needed. The error completes a sentence
    /// about the URL and contains no part of it.
    pub fn new(settings: BrokerSettings) -> Result<Self, String> {
        Ok(Self {
            broker: Box::new(Broker::new(settings)?),
            publisher: Box::default(),
            deliverer: Deliverer::default(),
            unreadable: AtomicU64::new(0),
        })
    }

    /// How many messages arrived with a body that is not in our format.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }
}

impl Bus for RabbitMq {
    /// Fails at once while the broker is known to be away.
    async fn publish(
        &self,
        message: &Message,
        _take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> Result<(), NotHandedOver> {
        let published = self.publisher.publish(&self.broker, message).await;
        published.map_err(NotHandedOver)
    }

    /// A message on which `take` fails stays unacknowledged and is tried again after a pause.
    async fn deliver(&self, take: &impl AsyncFn(Consumer, &Message) -> Result<()>) {
        self.deliverer
            .deliver(&self.broker, &self.unreadable, take)
            .await;
    }

    /// Judged by the connection that delivers. An instance that delivers nothing is judged by the connection that
    /// publishes, which counts as reachable until it is first needed.
    fn trouble(&self) -> Option<&'static str> {
        let is_reachable = self
            .deliverer
            .is_connected()
            .unwrap_or_else(|| self.publisher.is_reachable());
        if !is_reachable {
            return Some("unreachable");
        }
        self.publisher.is_blocked().then_some("blocked")
    }
}

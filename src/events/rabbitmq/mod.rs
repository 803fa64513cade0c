//! The bus over RabbitMQ: one topic exchange, one durable quorum queue for each consumer.

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

/// A broker that may be away at any time: what is not handed over then is still in the outbox.
#[derive(Debug)]
pub struct RabbitMq {
    broker: Box<Broker>,
    publisher: Publisher,
    deliverer: Deliverer,
    /// Messages that arrived with a body that is none of ours; each was acknowledged.
    unreadable: AtomicU64,
}

impl RabbitMq {
    /// Looks at the settings only: the first connection is made when it is needed. The error is the
    /// end of a sentence about the URL and holds nothing of it.
    pub fn new(settings: BrokerSettings) -> Result<Self, String> {
        Ok(Self {
            broker: Box::new(Broker::new(settings)?),
            publisher: Publisher::default(),
            deliverer: Deliverer::default(),
            unreadable: AtomicU64::new(0),
        })
    }

    /// How many arrived with a body that is none of ours.
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

    /// A message that `take` fails on stays unacknowledged and is tried again after a pause.
    async fn deliver(&self, take: &impl AsyncFn(Consumer, &Message) -> Result<()>) {
        self.deliverer
            .deliver(&self.broker, &self.unreadable, take)
            .await;
    }

    /// Tells of the connection that delivers; where nothing is delivered, of the one that publishes,
    /// which counts as reachable until it was needed.
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

//! The event bus: it brings each message to its consumers at least once, within this process or through RabbitMQ.
//!
//! [`Bus`] is the trait; `in_process` and `rabbitmq` implement it, and the settings choose one. The outbox relay
//! publishes to it, and `jobs::relay` passes on what it delivers.

mod bus;
mod in_process;
mod rabbitmq;

use crate::domain::events::Consumer;
use crate::error::Result;
pub use bus::{Bus, Message, NotHandedOver};
pub use in_process::InProcess;
pub use rabbitmq::{BrokerSettings, RabbitMq};

/// The adapter that the settings choose.
#[derive(Debug)]
pub enum EventBus {
    InProcess(InProcess),
    RabbitMq(RabbitMq),
}

impl EventBus {
    /// How many messages this instance could not read. Each was acknowledged, since its event is still in the outbox.
    pub fn unreadable(&self) -> u64 {
        match self {
            Self::InProcess(_) => 0,
            Self::RabbitMq(bus) => bus.unreadable(),
        }
    }
}

impl Bus for EventBus {
    async fn publish(
        &self,
        message: &Message,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> Result<(), NotHandedOver> {
        match self {
            Self::InProcess(bus) => bus.publish(message, take).await,
            Self::RabbitMq(bus) => bus.publish(message, take).await,
        }
    }

    async fn deliver(&self, take: &impl AsyncFn(Consumer, &Message) -> Result<()>) {
        match self {
            Self::InProcess(bus) => bus.deliver(take).await,
            Self::RabbitMq(bus) => bus.deliver(take).await,
        }
    }

    fn trouble(&self) -> Option<&'static str> {
        match self {
            Self::InProcess(bus) => bus.trouble(),
            Self::RabbitMq(bus) => bus.trouble(),
        }
    }
}

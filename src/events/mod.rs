//! The event bus: how a message reaches its consumers, at least once, through either adapter.

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
    /// How many messages this instance could not read; each was acknowledged, the outbox has it.
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

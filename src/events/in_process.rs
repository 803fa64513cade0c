//! The bus of a single process: a message is handed over once every consumer has committed.

use super::bus::{Bus, Message, NotHandedOver};
use crate::domain::events::Consumer;
use crate::error::Result;

/// Stores nothing itself: a message that was not handed over is still in the outbox.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl Bus for InProcess {
    async fn publish(
        &self,
        message: &Message,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> Result<(), NotHandedOver> {
        for consumer in Consumer::of(&message.kind) {
            let taken = take(consumer, message).await;
            taken.map_err(|error| NotHandedOver(format!("{}: {error}", consumer.name())))?;
        }
        Ok(())
    }

    async fn deliver(&self, _take: &impl AsyncFn(Consumer, &Message) -> Result<()>) {
        std::future::pending::<()>().await;
    }

    fn trouble(&self) -> Option<&'static str> {
        None
    }
}

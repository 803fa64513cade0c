//! Events on their way from the outbox to their effects.
//!
//! Read in this order:
//! 1. [`outbox_relay`]: hands events over to the bus, in order per order, at least once
//! 2. [`deduplication`]: a consumer acts on a fact once
//! 3. [`retries`]: what fails is tried again with growing pauses, then it is dead
//! 4. [`failed_messages`] and [`replay_failed`]: what operators see of that, and their replays

pub mod deduplication;
pub mod failed_messages;
pub mod outbox_relay;
pub mod replay_failed;
pub mod retries;

//! Events on their way from the outbox to the consumers. `orders::order_status` writes them into the outbox.
//!
//! Read in this order:
//! 1. [`outbox_relay`]: `relay` hands the events of each order to the bus in their order, at least once
//! 2. [`deduplication`]: `once` lets a consumer act once on each business fact, however often its message comes
//! 3. [`retries`]: retries a failed message with growing pauses; after the last attempt it is a dead letter
//! 4. [`failed_messages`]: lists failed messages and dead letters for operators
//! 5. [`replay_failed`]: `create` lets an operator replay one of them, once for each idempotency key
//!
//! The loops that call these are in `jobs::relay`, the consumers in `consumers`.

pub mod deduplication;
pub mod failed_messages;
pub mod outbox_relay;
pub mod replay_failed;
pub mod retries;

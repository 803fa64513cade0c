//! Requests under an idempotency key: the first one does the work, and each repeat is answered with what the first did.
//!
//! Read in this order:
//! 1. [`admission`]: its `once` is the entry point; the gate lets only one of several equal requests in at a time
//! 2. [`record`]: `claim` inserts the idempotency record in the transaction that does the work, so a repeat fails there
//! 3. [`replay`]: `look` and `resource` read from the database what the first request made, for the repeat's answer
//!
//! Placing an order, starting a payment, asking for a refund and replaying a failed message use these three. The key and
//! the gate themselves are in [`crate::idempotency`].

pub mod admission;
pub mod record;
pub mod replay;

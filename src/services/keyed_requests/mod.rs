//! Requests under an idempotency key: whatever comes again is answered by what the first one did.
//!
//! Read in this order:
//! 1. [`admission`]: the gate lets the same request in one at a time
//! 2. [`record`]: the winner inserts its idempotency record in the transaction that does the work
//! 3. [`replay`]: what a repeat hears, read from the database

pub mod admission;
pub mod record;
pub mod replay;

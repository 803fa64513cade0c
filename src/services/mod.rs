//! Use cases; they alone begin transactions. One room for each subject:
//!
//! - [`api`]: what crosses the wire, in and out
//! - [`keyed_requests`]: requests under an idempotency key: gate, record, replay
//! - [`orders`]: from the order token to the receipt
//! - [`payments`]: attempts, callbacks, settlement, refunds, questions to gateways
//! - [`events`]: outbox, deduplication, retries, dead letters
//! - [`customers`]: loyalty points and notifications
//! - [`catalogue`]: products and stock
//! - [`archive`]: old rows leave the tables
//! - [`operations`]: alerts, scheduled jobs, readiness, audit

pub mod api;
pub mod archive;
pub mod catalogue;
pub mod customers;
pub mod events;
pub mod keyed_requests;
pub mod operations;
pub mod orders;
pub mod payments;

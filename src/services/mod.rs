//! The use cases of the service. Only they begin database transactions. One room for each subject:
//!
//! - [`api`]: the bodies of requests and answers
//! - [`keyed_requests`]: requests under an idempotency key: gate, idempotency record, replay
//! - [`orders`]: an order's life from its order token to the receipt of the goods
//! - [`payments`]: payment attempts, callbacks (webhooks), settlement, refunds, queries to gateways
//! - [`events`]: outbox relay, deduplication, retries, dead letters
//! - [`customers`]: loyalty points and notifications
//! - [`catalogue`]: products and stock
//! - [`archive`]: moves old rows from the tables into files, or deletes them
//! - [`operations`]: alerts, scheduled jobs, readiness, backlog, audit
//!
//! To follow one order through the rooms, read `orders::place_order`, then `payments::start_payment`,
//! `payments::callbacks` and `events::outbox_relay`. Each room's page says where to begin in it.

pub mod api;
pub mod archive;
pub mod catalogue;
pub mod customers;
pub mod events;
pub mod keyed_requests;
pub mod operations;
pub mod orders;
pub mod payments;

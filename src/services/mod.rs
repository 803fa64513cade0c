//! Use cases; they alone begin transactions.

pub mod alerts;
pub mod audit;
pub mod callbacks;
pub mod cashier;
pub mod catalogue;
mod closing;
pub mod commands;
mod entrance;
pub mod gateway_work;
pub mod ids;
mod keyed;
pub mod order_status;
pub mod order_tokens;
pub mod orders;
pub mod payments;
pub mod place_order;
mod placement;
mod quote;
pub mod readiness;
pub mod refunds;
pub mod repeats;
pub mod seed;
pub mod settlement;
pub mod shipments;
pub mod stock;
pub mod timeline;
pub mod views;

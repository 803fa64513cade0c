//! Use cases; they alone begin transactions.

pub mod audit;
pub mod catalogue;
pub mod commands;
pub mod ids;
pub mod order_status;
pub mod order_tokens;
pub mod orders;
pub mod place_order;
mod placement;
mod quote;
pub mod readiness;
pub mod repeats;
pub mod seed;
pub mod stock;
pub mod views;

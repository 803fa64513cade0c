//! The rules, as pure functions: no I/O, no async, no clock of their own.

pub mod events;
pub mod money;
pub mod order_flow;
pub mod slot;
pub mod snowflake;

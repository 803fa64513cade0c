//! The rules, as pure functions: no I/O, no async, no clock of their own.

pub mod archive;
pub mod due;
pub mod events;
pub mod gateway_message;
pub mod jobs;
pub mod money;
pub mod order_flow;
pub mod payment_flow;
pub mod points;
pub mod refund_flow;
pub mod settlement;
pub mod slot;
pub mod snowflake;

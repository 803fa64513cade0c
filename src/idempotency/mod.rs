//! In front of the database: the context of a request, order tokens, the gate and locks.
//!
//! All of it spares work; what is true is decided by the database.

mod breaker;
pub mod context;
mod entry;
pub mod fallback_store;
pub mod gate;
pub mod json;
pub mod lock;
mod memory_store;
mod redis_store;
pub mod store;
pub mod token;

pub use context::{Command, IdempotentContext, Key};

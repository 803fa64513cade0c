//! The commands that have commands of their own.

pub mod events;
pub mod job;

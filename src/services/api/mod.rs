//! What crosses the wire.
//!
//! - [`requests`]: bodies of requests, checked once at the door and valid ever after
//! - [`responses`]: what clients read; entities never cross

pub mod requests;
pub mod responses;

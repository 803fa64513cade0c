//! What crosses the wire.
//!
//! - [`requests`]: bodies of requests, checked once at the door and valid ever after
//! - [`responses`]: what clients read; entities never cross
//! - [`payment`], [`refund`], [`shipment`]: both directions of one subject
//! - [`schema`]: types of the tables as `/openapi.json` shows them

pub mod payment;
pub mod refund;
pub mod requests;
pub mod responses;
pub mod schema;
pub mod shipment;

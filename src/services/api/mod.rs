//! The bodies of the HTTP API: what clients send and what they get back. Database entities are never sent as they are.
//!
//! - [`requests`]: what clients send about orders, products and stock; [`requests::checked`] validates a body
//! - [`responses`]: what clients get back about them, and the pages of lists
//! - [`payment`], [`refund`], [`shipment`]: request and answer of one subject side by side
//! - [`schema`]: how `/openapi.json` shows the enums that belong to the tables
//!
//! Read [`requests`] first. A controller validates a body before it calls a use case, so no use case validates it again.

pub mod payment;
pub mod refund;
pub mod requests;
pub mod responses;
pub mod schema;
pub mod shipment;

//! What customers have and are told: effects of events, and the lists that show them.
//!
//! - [`points`]: loyalty points
//! - [`notifications`]: messages of the shop about their orders

pub mod notifications;
pub mod points;

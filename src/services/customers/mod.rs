//! Loyalty points and notifications: consumers write them when an event arrives, and customers list them.
//!
//! - [`points`]: `credit` and `take_back` move points in the consumer's transaction; `read` shows balance and movements
//! - [`notifications`]: `tell` writes a notification in the consumer's transaction; `list` shows a customer's own
//!
//! The consumers that call them are `consumers::loyalty_points` and `consumers::notifications`. Unique keys on the
//! business fact keep a repeated message from moving points or notifying twice.

pub mod notifications;
pub mod points;

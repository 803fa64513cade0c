//! What is sold.
//!
//! - [`products`]: names and prices, read by anybody, changed by operators
//! - [`stock`]: pieces taken, given back and counted
//! - [`seed`]: the small catalogue of development

pub mod products;
pub mod seed;
pub mod stock;

//! Orders, from the order token to the receipt.
//!
//! Entry points, in the order of an order's life:
//! 1. [`order_tokens`]: the right to create one order
//! 2. [`place_order`]: token, gate, locks and [`pricing`], then the transaction of [`placement`]
//! 3. [`manage_orders`]: reading, listing, another address, cancelling
//! 4. [`shipments`]: shipping and receiving
//! 5. [`timeline`]: what happened to it
//!
//! Every change of a status goes through [`order_status`]; every end without goods through [`close_order`].

pub mod close_order;
pub mod manage_orders;
pub mod order_status;
pub mod order_tokens;
pub mod place_order;
mod placement;
mod pricing;
pub mod shipments;
mod ticket;
pub mod timeline;

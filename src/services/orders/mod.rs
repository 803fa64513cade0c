//! Orders, from the order token to the receipt of the goods.
//!
//! Entry points, in the order of an order's life:
//! 1. [`order_tokens`]: issues a customer's right to create one order
//! 2. [`place_order`]: checks the token (`ticket`), passes the gate, takes the rush locks and prices the order
//!    (`pricing`), then creates it in the transaction of `placement`
//! 3. [`manage_orders`]: reads and lists orders, changes the address, cancels
//! 4. [`shipments`]: the operator ships, the customer confirms the receipt
//! 5. [`timeline`]: merges the order's events and its gateway's callbacks into one history
//!
//! Only [`order_status`] writes an order's status, slots and events. Only [`close_order`] closes an unpaid order.

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

//! Money: attempts to pay, what gateways tell, refunds, and what is asked of gateways.
//!
//! Entry points:
//! 1. [`start_payment`]: one live attempt for an order, opened at its gateway
//! 2. [`callbacks`]: a gateway's message: signature, lock, [`settlement`]
//! 3. [`request_refund`]: the row and its reservation; [`gateway_calls`] sends it
//! 4. [`reconcile`] and [`close_unpaid`]: scheduled jobs that ask about lost callbacks and overdue orders
//!
//! Everything that a gateway says, asked ([`gateway_queries`]) or unasked, is settled by [`settlement`] and nowhere else.

pub mod background_calls;
pub mod callbacks;
pub mod cashier;
pub mod close_unpaid;
pub mod gateway_calls;
mod gateway_queries;
pub mod reconcile;
pub mod request_refund;
pub mod retire_attempts;
pub mod settlement;
pub mod start_payment;

//! Payment attempts, gateways' callbacks, refunds, and our own calls to gateways.
//!
//! Entry points, in reading order:
//! 1. [`start_payment`]: makes the one live attempt of an order and opens it at its gateway
//! 2. [`callbacks`]: takes in a gateway's callback (webhook): signature, lock, then [`settlement`]
//! 3. [`request_refund`]: inserts a refund and reserves its amount; [`gateway_calls`] sends it to the gateway later
//! 4. [`retire_attempts`]: marks attempts that nobody wants any more; [`gateway_calls`] ends them at their gateway
//! 5. [`reconcile`] and [`close_unpaid`]: scheduled jobs that query gateways about lost callbacks and overdue orders
//! 6. [`background_calls`] runs a consumer's gateway call in a task; [`cashier`] serves the sandbox's pages
//!
//! Whatever a gateway says, in a callback or in answer to a query (`gateway_queries`), only [`settlement`] settles it.

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

//! What one running instance keeps in memory; after a crash nothing of it is missed.
//!
//! - [`order_ids`]: the node number under which it mints ids
//! - [`background_calls`]: calls to gateways that are under way
//! - [`late_runs`]: ends of scheduled jobs that the database did not take yet

pub mod background_calls;
pub mod late_runs;
pub mod order_ids;

//! What operators run and watch.
//!
//! - [`alerts`], [`alert_list`]: what a person must see: raising it, and the list
//! - [`job_lease`], [`job_runs`]: scheduled jobs: one instance at a time, and what came of each run
//! - [`readiness`]: whether requests should come here
//! - [`backlog`]: what waits, as numbers
//! - [`audit`]: proves from the data that nothing happened twice

pub mod alert_list;
pub mod alerts;
pub mod audit;
pub mod backlog;
pub mod job_lease;
pub mod job_runs;
pub mod readiness;

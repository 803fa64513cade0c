//! What operators run and watch.
//!
//! - [`alerts`]: what a person must see
//! - [`job_lease`], [`job_runs`], [`late_runs`]: scheduled jobs: one instance at a time, and what came of each run
//! - [`readiness`]: whether requests should come here
//! - [`backlog`]: what waits, as numbers
//! - [`audit`]: proves from the data that nothing happened twice

pub mod alerts;
pub mod audit;
pub mod backlog;
pub mod job_lease;
pub mod job_runs;
pub mod late_runs;
pub mod readiness;

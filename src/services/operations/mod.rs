//! What operators run and watch.
//!
//! - [`alerts`]: other use cases raise an alert here when a person must look; [`alert_list`] lists and acknowledges them
//! - [`job_lease`]: `hold` runs a scheduled job under a lease, so that one instance at a time runs it
//! - [`job_runs`]: records when each scheduled job ran and how the run ended, and lists that for operators
//! - [`readiness`]: whether the load balancer should send requests to this instance (`/readyz`)
//! - [`backlog`]: counts unpublished events, failed messages, parked callbacks and open alerts for `/metrics`
//! - [`audit`]: `order-service audit` proves from the data that nothing happened twice
//!
//! Each stands by itself. The scheduler that uses [`job_lease`] and [`job_runs`] is `jobs::scheduler`.

pub mod alert_list;
pub mod alerts;
pub mod audit;
pub mod backlog;
pub mod job_lease;
pub mod job_runs;
pub mod readiness;

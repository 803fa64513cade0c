//! The metrics of scheduled jobs.

use chrono::{DateTime, Utc};
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

use super::register::counters;

/// What came of the runs of this instance since its start.
#[derive(Debug)]
pub struct JobMetrics {
    runs: IntCounterVec,
    last: IntGaugeVec,
}

impl JobMetrics {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let last = Opts::new(
            "job_last_success_seconds",
            "Unix time of a job's last success here.",
        );
        let last = IntGaugeVec::new(last, &["job"])?;
        registry.register(Box::new(last.clone()))?;
        Ok(Self {
            runs: counters(
                registry,
                "job_runs_total",
                "Runs of jobs, by what came of them.",
                &["job", "outcome"],
            )?,
            last,
        })
    }

    /// Counts a run that ended.
    pub fn ended(&self, job: &str, outcome: &str, now: DateTime<Utc>) {
        self.runs.with_label_values(&[job, outcome]).inc();
        if outcome == "SUCCEEDED" {
            self.last.with_label_values(&[job]).set(now.timestamp());
        }
    }
}

//! What could not be written down about runs of jobs while the database was in trouble: kept until it can be.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use entity::job_run::Model;

/// So many are kept; beyond that the oldest is forgotten.
const KEPT: usize = 50;

/// Runs that ended, in the order of their ends.
#[derive(Debug, Default)]
pub struct LateRuns(Mutex<VecDeque<Model>>);

impl LateRuns {
    pub fn keep(&self, run: Model) {
        let mut runs = self.runs();
        if runs.len() == KEPT {
            runs.pop_front();
        }
        runs.push_back(run);
    }

    /// The one that waits longest; whoever cannot write it down keeps it again.
    pub fn take(&self) -> Option<Model> {
        self.runs().pop_front()
    }

    fn runs(&self) -> MutexGuard<'_, VecDeque<Model>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The time, asked once per use case and passed down; tests move it by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, SubsecRound, Utc};

/// Where the time comes from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    System,
    /// Unix microseconds that only the test moves.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `start` until it is moved.
    pub fn manual(start: DateTime<Utc>) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(start.timestamp_micros())))
    }

    /// Now, in whole microseconds: what the database keeps.
    pub fn now(&self) -> DateTime<Utc> {
        match self {
            #[expect(
                clippy::disallowed_methods,
                reason = "this is the clock that others ask"
            )]
            Self::System => Utc::now().trunc_subsecs(6),
            Self::Manual(micros) => {
                DateTime::from_timestamp_micros(micros.load(Ordering::SeqCst)).unwrap_or_default()
            }
        }
    }

    /// Moves a manual clock; the system's stays as it is.
    pub fn advance(&self, by: chrono::TimeDelta) {
        if let Self::Manual(micros) = self {
            micros.fetch_add(by.num_microseconds().unwrap_or_default(), Ordering::SeqCst);
        }
    }
}

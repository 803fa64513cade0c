//! Requests that are turned away come in crowds: the log tells of them now and then with their number, not once each.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::warn;

/// The shortest time between two lines.
const QUIET: Duration = Duration::from_secs(10);

static CROWD: Mutex<Crowd> = Mutex::new(Crowd {
    told: None,
    untold: 0,
});

#[derive(Debug)]
struct Crowd {
    told: Option<Instant>,
    /// Turned away since then.
    untold: u64,
}

/// Notes that a request was turned away for this reason.
pub fn note(code: &str) {
    let mut crowd = CROWD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(requests) = crowd.one_more(Instant::now()) {
        warn!(code, requests; "requests were turned away");
    }
}

impl Crowd {
    /// How many to tell of now, this one included.
    fn one_more(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        if self
            .told
            .is_some_and(|told| now.duration_since(told) < QUIET)
        {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_told_of_at_once_and_then_by_number() {
        let start = Instant::now();
        let mut crowd = Crowd {
            told: None,
            untold: 0,
        };

        let told: Vec<Option<u64>> = [0, 1, 9, 10, 11, 30]
            .map(|second| crowd.one_more(start + Duration::from_secs(second)))
            .to_vec();

        assert_eq!(told, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}

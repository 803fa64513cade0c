//! What is to be done again later: due when its moment has come, and not held up by a clock that was ahead.

use chrono::{DateTime, TimeDelta, Utc};

/// No pause is longer: six hours, and what the clocks of two instances may differ by.
const LONGEST: TimeDelta = TimeDelta::hours(7);

/// Whether what was put off until `at` is to be done now.
pub fn is_due(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at <= now || at > latest(now)
}

/// Beyond this moment nothing is put off: what says so was written while the clock was ahead.
pub fn latest(now: DateTime<Utc>) -> DateTime<Utc> {
    now + LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_off_by_a_clock_ahead_is_due() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let due = |by| is_due(now + by, now);

        assert!(due(TimeDelta::zero()) && due(-TimeDelta::days(2)));
        assert!(!due(TimeDelta::seconds(1)) && !due(TimeDelta::hours(6)));
        assert!(due(TimeDelta::days(2)));
    }
}

//! Snowflake ids: 41 bits of milliseconds, 10 of the node's number, 12 of a counter; always positive.

use std::time::Duration;

/// 2026-01-01T00:00:00Z in Unix milliseconds; the 41 bits last until 2095.
pub const EPOCH_MS: i64 = 1_767_225_600_000;
/// Node numbers are 0 to 1023.
pub const NODES: i64 = 1 << NODE_BITS;

const NODE_BITS: u32 = 10;
const COUNTER_BITS: u32 = 12;
const COUNTERS: i64 = 1 << COUNTER_BITS;

/// Why no id can be minted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// The clock shows an earlier time than an id was minted at: wait this long, or refuse.
    ClockBehind(Duration),
    /// The reserved milliseconds are used up: renew the lease first.
    Unreserved,
}

/// The last id of one node.
#[derive(Debug, Clone)]
pub struct Snowflake {
    node: i64,
    /// Milliseconds since [`EPOCH_MS`].
    last_ms: i64,
    counter: i64,
}

impl Snowflake {
    /// A generator for `node` that mints later than `after_ms` (Unix milliseconds).
    pub const fn new(node: i64, after_ms: i64) -> Self {
        Self {
            node,
            last_ms: after_ms - EPOCH_MS,
            counter: COUNTERS - 1,
        }
    }

    /// The next id at `now_ms`, which must not pass `reserved_ms` (both Unix milliseconds).
    ///
    /// When a millisecond's 4,096 ids are used the next millisecond is borrowed, so a burst does
    /// not wait; the reservation bounds the borrowing.
    pub fn next(&mut self, now_ms: i64, reserved_ms: i64) -> Result<i64, Pause> {
        let now = now_ms - EPOCH_MS;
        let (ms, counter) = if now > self.last_ms {
            (now, 0)
        } else if self.counter + 1 < COUNTERS {
            (self.last_ms, self.counter + 1)
        } else {
            (self.last_ms + 1, 0)
        };
        if ms - now > Self::BORROWED_MS {
            return Err(Pause::ClockBehind(Duration::from_millis(
                (ms - now).unsigned_abs(),
            )));
        }
        if ms + EPOCH_MS > reserved_ms {
            return Err(Pause::Unreserved);
        }
        self.last_ms = ms;
        self.counter = counter;
        Ok(((ms << NODE_BITS | self.node) << COUNTER_BITS) | counter)
    }

    /// How far ids may run ahead of the clock, in milliseconds.
    const BORROWED_MS: i64 = 10;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const NOW: i64 = EPOCH_MS + 1_000_000;

    #[test]
    fn ids_ascend_and_never_repeat() {
        let mut node = Snowflake::new(3, NOW - 1);

        let ids: Vec<i64> = (0..20_000)
            .map(|n| node.next(NOW + n / 4_000, NOW + 100).expect("an id"))
            .collect();

        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn two_nodes_never_share_an_id() {
        let mut one = Snowflake::new(1, NOW - 1);
        let mut two = Snowflake::new(2, NOW - 1);

        let ids: HashSet<i64> = (0..2_000)
            .flat_map(|_| [one.next(NOW, NOW + 100), two.next(NOW, NOW + 100)])
            .map(|id| id.expect("an id"))
            .collect();

        assert_eq!(ids.len(), 4_000);
    }

    #[test]
    fn a_clock_that_steps_back_is_told() {
        let mut node = Snowflake::new(1, NOW);

        let early = node.next(NOW - 500, NOW + 100);

        assert_eq!(early, Err(Pause::ClockBehind(Duration::from_millis(501))));
    }

    #[test]
    fn nothing_is_minted_past_the_reservation() {
        let mut node = Snowflake::new(1, NOW - 1);

        assert!(node.next(NOW, NOW).is_ok());
        assert_eq!(node.next(NOW + 1, NOW), Err(Pause::Unreserved));
    }

    #[test]
    fn a_new_holder_mints_above_what_the_last_one_reserved() {
        let mut last = Snowflake::new(1, NOW - 1);
        let newest = (0..10).map(|_| last.next(NOW, NOW).expect("an id")).max();

        let first = Snowflake::new(1, NOW).next(NOW + 1, NOW + 100).ok();

        assert!(first > newest);
    }
}

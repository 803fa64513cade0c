//! Loyalty points: how many an amount is worth, and how many a refund takes back.

/// The points that `minor` units of money are worth, a point for each whole `unit`.
pub const fn worth(minor: i64, unit: i64) -> i64 {
    minor.div_euclid(unit)
}

/// What a refund takes back: what was left before it less what is left after it; `None` for totals
/// that no payment has.
///
/// However a payment is refunded in parts, what all of them take back is what the amount was worth
/// less what the rest is worth: nothing is lost by rounding.
pub fn taken_back(paid: i64, before: i64, after: i64, unit: i64) -> Option<i64> {
    let is_possible = (0..=paid).contains(&before) && (0..=paid).contains(&after);
    is_possible.then(|| worth(paid - before, unit) - worth(paid - after, unit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_parts_of_a_whole_leave_the_points_of_nothing() {
        let parts = [(0, 333), (333, 666), (666, 1_000)];

        let taken = parts.map(|(before, after)| taken_back(1_000, before, after, 100).unwrap());

        assert_eq!(taken, [4, 3, 3]);
        assert_eq!(taken.iter().sum::<i64>(), worth(1_000, 100));
    }

    #[test]
    fn totals_that_no_payment_has_take_nothing_back() {
        for (before, after) in [(i64::MIN, 0), (0, 1_001), (-1, 0), (0, i64::MAX)] {
            assert_eq!(taken_back(1_000, before, after, 100), None);
        }
    }

    proptest! {
        #[test]
        fn what_stays_is_worth_what_is_left(
            paid in 1..1_000_000_i64,
            mut cuts in proptest::collection::vec(0..1_000_000_i64, 0..8),
            unit in 1..1_000_i64,
        ) {
            cuts.retain(|cut| *cut <= paid);
            cuts.sort_unstable();
            let mut before = 0;
            let mut balance = worth(paid, unit);

            for after in cuts {
                balance -= taken_back(paid, before, after, unit).unwrap();
                before = after;
            }

            prop_assert_eq!(balance, worth(paid - before, unit));
        }
    }
}

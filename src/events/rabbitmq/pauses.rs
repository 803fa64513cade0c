//! Pauses between tries to reach the broker: exponential back-off with jitter.

use std::time::Duration;

use rand::random_range;

/// Each pause is twice as long as the one before, up to a longest, and shortened by up to half at random so that
/// instances do not try in step.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    pub(super) const fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// Between tries to reach the broker.
    pub(super) const fn to_the_broker() -> Self {
        Self::new(Duration::from_millis(200), Duration::from_secs(10))
    }

    /// The next pause.
    pub(super) fn take(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        random_range(pause / 2..=pause)
    }

    /// Begins with the first again.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(10);

    #[test]
    fn each_pause_is_about_twice_as_long_up_to_the_longest() {
        let mut pauses = Pauses::new(FIRST, LONGEST);

        for whole in [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000] {
            let whole = Duration::from_millis(whole);
            let pause = pauses.take();
            assert!(
                (whole / 2..=whole).contains(&pause),
                "{pause:?} of {whole:?}"
            );
        }
    }

    #[test]
    fn after_a_reset_the_first_pause_is_due() {
        let mut pauses = Pauses::new(FIRST, LONGEST);
        for _ in 0..5 {
            pauses.take();
        }

        pauses.reset();

        assert!(pauses.take() <= FIRST);
    }

    #[test]
    fn two_instances_do_not_come_in_step() {
        let pauses: Vec<Duration> = (0..20)
            .map(|_| Pauses::new(LONGEST, LONGEST).take())
            .collect();

        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
    }
}

//! Until when an answer is worth waiting for: set once where work comes in, kept by everything below.
//!
//! By a clock that only counts on: steps of the wall clock change no deadline.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

tokio::task_local! {
    static UNTIL: Instant;
}

/// The time for an answer is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed;

/// Runs `work` with a deadline; inside an earlier one, that one holds.
pub async fn within<F: Future>(time: Duration, work: F) -> F::Output {
    let until = Instant::now() + time;
    let until = current().map_or(until, |outer| outer.min(until));
    UNTIL.scope(until, work).await
}

/// Runs `work` with the deadline of another task: a new task has none of its own.
pub async fn with<F: Future>(until: Option<Instant>, work: F) -> F::Output {
    match until {
        Some(until) => UNTIL.scope(until, work).await,
        None => work.await,
    }
}

/// The deadline of the work that this runs in, where it has one.
pub fn current() -> Option<Instant> {
    UNTIL.try_with(|until| *until).ok()
}

/// What `wait` gives, unless `until` comes first; then `wait` is dropped.
pub async fn in_time<F: Future>(until: Instant, wait: F) -> Result<F::Output, Passed> {
    timeout_at(until, wait).await.map_err(|_elapsed| Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn of_two_deadlines_the_earlier_one_holds() {
        let outer = Instant::now() + Duration::from_secs(1);

        let inner = within(Duration::from_secs(1), async {
            within(Duration::from_secs(9), async { current() }).await
        });

        assert_eq!(inner.await, Some(outer));
        assert_eq!(current(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_longer_is_dropped() {
        let until = Instant::now() + Duration::from_secs(5);

        let late = in_time(until, std::future::pending::<()>()).await;

        assert_eq!(late, Err(Passed));
        assert_eq!(Instant::now(), until);
    }
}

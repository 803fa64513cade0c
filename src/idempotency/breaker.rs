//! The circuit breaker in front of Redis: after a few errors in a row it is left alone, and its outage costs no time-outs.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use prometheus::IntGauge;
use tokio::time::Instant;

/// So many errors in a row open it.
const ERRORS: u32 = 3;
/// An open one lets a probe pass so often.
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Call,
    Refused,
    /// Refused too, but somebody should see by a probe whether Redis is back: said to one caller a second.
    ProbeDue,
}

/// Closed at first. Any success closes it.
#[derive(Debug)]
pub struct Breaker {
    state: Mutex<State>,
    gauge: IntGauge,
}

#[derive(Debug)]
enum State {
    Closed { errors: u32 },
    Open { probe_at: Instant },
}

impl Breaker {
    /// `gauge` is 1 while it is open.
    pub fn new(gauge: IntGauge) -> Self {
        gauge.set(0);
        Self {
            state: Mutex::new(State::Closed { errors: 0 }),
            gauge,
        }
    }

    /// Asked before each call; takes well below a microsecond.
    pub fn admission(&self) -> Admission {
        match &mut *self.state() {
            State::Closed { .. } => Admission::Call,
            State::Open { probe_at } => {
                let now = Instant::now();
                if now < *probe_at {
                    return Admission::Refused;
                }
                *probe_at = now + PROBE_EVERY;
                Admission::ProbeDue
            }
        }
    }

    pub fn succeeded(&self) {
        *self.state() = State::Closed { errors: 0 };
        self.gauge.set(0);
    }

    /// Answers whether this error opened it.
    pub fn failed(&self) -> bool {
        let mut state = self.state();
        let State::Closed { errors } = &mut *state else {
            return false;
        };
        *errors += 1;
        if *errors < ERRORS {
            return false;
        }
        *state = State::Open {
            probe_at: Instant::now() + PROBE_EVERY,
        };
        self.gauge.set(1);
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::{Admission::*, *};

    fn breaker() -> prometheus::Result<Breaker> {
        IntGauge::new("open", "1 while it is.").map(Breaker::new)
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_breaker_asks_for_one_probe_a_second() -> prometheus::Result<()> {
        let breaker = breaker()?;
        assert_eq!([(); 3].map(|()| breaker.failed()), [false, false, true]);

        let mut asked = vec![];
        for _ in 0..3 {
            asked.extend([breaker.admission(), breaker.admission()]);
            advance(PROBE_EVERY).await;
        }

        assert_eq!(
            asked,
            [Refused, Refused, ProbeDue, Refused, ProbeDue, Refused]
        );
        Ok(())
    }

    #[test]
    fn only_errors_in_a_row_open_it() -> prometheus::Result<()> {
        let breaker = breaker()?;

        for _ in 0..10 {
            breaker.failed();
            breaker.failed();
            breaker.succeeded();
        }

        assert_eq!(breaker.admission(), Admission::Call);
        Ok(())
    }
}

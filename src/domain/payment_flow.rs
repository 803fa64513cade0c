//! The attempt's state machine: money is a fact, nothing leaves SUCCEEDED.

use entity::payment::PaymentStatus;

/// What can happen to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The gateway knows of it.
    Open,
    Succeed,
    Fail,
    Close,
}

/// Where `status` goes by `action`; `None` when it tells nothing new.
pub const fn next(status: PaymentStatus, action: Move) -> Option<PaymentStatus> {
    use PaymentStatus as S;
    match (status, action) {
        (S::Created, Move::Open) => Some(S::Live),
        (S::Created | S::Live | S::Failed | S::Closed, Move::Succeed) => Some(S::Succeeded),
        (S::Created | S::Live, Move::Fail) => Some(S::Failed),
        (S::Created | S::Live | S::Failed, Move::Close) => Some(S::Closed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::{ActiveEnum, Iterable};

    #[test]
    fn the_whole_grid() {
        let mut grid = String::new();
        for status in PaymentStatus::iter() {
            grid.push_str(&status.to_value());
            for action in [Move::Open, Move::Succeed, Move::Fail, Move::Close] {
                let cell = next(status, action).map_or("-".to_owned(), |to| to.to_value());
                grid.push(' ');
                grid.push_str(&cell);
            }
            grid.push('\n');
        }

        let expected = "\
CREATED LIVE SUCCEEDED FAILED CLOSED
LIVE - SUCCEEDED FAILED CLOSED
SUCCEEDED - - - -
FAILED - SUCCEEDED - CLOSED
CLOSED - SUCCEEDED - -
";
        assert_eq!(grid, expected);
    }
}

//! The refund's state machine: a failure is the gateway's final word, and a success outweighs it.

use entity::refund::RefundStatus;

/// What can happen to a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The gateway is about to be asked.
    Send,
    Succeed,
    Fail,
}

/// Where `status` goes by `action`; `None` when it tells nothing new.
///
/// FAILED → SUCCEEDED needs room under the payment's cap, since its reservation was released.
pub const fn next(status: RefundStatus, action: Move) -> Option<RefundStatus> {
    use RefundStatus as S;
    match (status, action) {
        (S::Requested, Move::Send) => Some(S::Processing),
        (S::Requested | S::Processing | S::Failed, Move::Succeed) => Some(S::Succeeded),
        (S::Requested | S::Processing, Move::Fail) => Some(S::Failed),
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
        for status in RefundStatus::iter() {
            grid.push_str(&status.to_value());
            for action in [Move::Send, Move::Succeed, Move::Fail] {
                let cell = next(status, action).map_or("-".to_owned(), |to| to.to_value());
                grid.push(' ');
                grid.push_str(&cell);
            }
            grid.push('\n');
        }

        let expected = "\
REQUESTED PROCESSING SUCCEEDED FAILED
PROCESSING - SUCCEEDED FAILED
SUCCEEDED - - -
FAILED - SUCCEEDED -
";
        assert_eq!(grid, expected);
    }
}

//! The order's state machine: forward only, whoever asks.

use entity::order::OrderStatus;

/// What can happen to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    StartPayment,
    Pay,
    Ship,
    Receive,
    Close,
    /// The whole amount was asked back.
    BeginRefund,
    /// The whole amount has gone back.
    Refund,
}

/// Where `status` goes by `action`; `None` when it may not.
///
/// A payment may overtake the answer that started it, so `PENDING_PAYMENT` goes straight to PAID.
pub const fn next(status: OrderStatus, action: Move) -> Option<OrderStatus> {
    use OrderStatus as S;
    match (status, action) {
        (S::PendingPayment, Move::StartPayment) => Some(S::Paying),
        (S::PendingPayment | S::Paying, Move::Pay) => Some(S::Paid),
        (S::PendingPayment | S::Paying, Move::Close) => Some(S::Closed),
        (S::Paid, Move::Ship) => Some(S::Shipped),
        (S::Shipped, Move::Receive) => Some(S::Finished),
        (S::Paid | S::Shipped | S::Finished, Move::BeginRefund) => Some(S::Refunding),
        (S::Refunding, Move::Refund) => Some(S::Refunded),
        _ => None,
    }
}

/// Whether the address may still be changed: until the parcel has left.
pub const fn address_changeable(status: OrderStatus) -> bool {
    matches!(
        status,
        OrderStatus::PendingPayment | OrderStatus::Paying | OrderStatus::Paid
    )
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    Customer,
    Operator,
}

/// What the owner or an operator may ask for now, so that a page need not know the rules.
pub fn allowed_actions(status: OrderStatus, actor: Actor) -> Vec<&'static str> {
    let may = |action| next(status, action).is_some();
    let unpaid = may(Move::Pay);
    let refundable = may(Move::BeginRefund) || status == OrderStatus::Refunding;
    let operator = actor == Actor::Operator;
    let actions = [
        ("pay", unpaid),
        ("cancel", may(Move::Close)),
        ("change_address", address_changeable(status)),
        ("receive", may(Move::Receive) && !operator),
        ("ship", may(Move::Ship) && operator),
        ("refund", refundable && operator),
    ];
    actions
        .into_iter()
        .filter(|(_, allowed)| *allowed)
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::{ActiveEnum, Iterable};

    const MOVES: [Move; 7] = [
        Move::StartPayment,
        Move::Pay,
        Move::Ship,
        Move::Receive,
        Move::Close,
        Move::BeginRefund,
        Move::Refund,
    ];

    #[test]
    fn the_whole_grid() {
        let mut grid = String::new();
        for status in OrderStatus::iter() {
            grid.push_str(&status.to_value());
            for action in MOVES {
                let cell = next(status, action).map_or("-".to_owned(), |to| to.to_value());
                grid.push(' ');
                grid.push_str(&cell);
            }
            grid.push('\n');
        }

        let expected = "\
PENDING_PAYMENT PAYING PAID - - CLOSED - -
PAYING - PAID - - CLOSED - -
PAID - - SHIPPED - - REFUNDING -
SHIPPED - - - FINISHED - REFUNDING -
FINISHED - - - - - REFUNDING -
CLOSED - - - - - - -
REFUNDING - - - - - - REFUNDED
REFUNDED - - - - - - -
";
        assert_eq!(grid, expected);
    }

    #[test]
    fn no_path_leads_back() {
        for start in OrderStatus::iter() {
            let mut seen = vec![start];
            let mut open = vec![start];
            while let Some(status) = open.pop() {
                for to in MOVES.into_iter().filter_map(|action| next(status, action)) {
                    assert_ne!(to, start, "{start:?} is reached again");
                    if !seen.contains(&to) {
                        seen.push(to);
                        open.push(to);
                    }
                }
            }
        }
    }
}

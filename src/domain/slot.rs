//! Which value an item's `active_slot` has: what makes "one valid order" a unique key without a NULL.

use entity::OrderId;
use entity::order::{OrderStatus, Policy};

/// 0 while an order in `status` counts against `policy`, else the order's own id.
///
/// No move of `order_flow` leads from a status that does not count to one that does, so a slot
/// never returns to 0.
pub const fn active_slot(policy: Policy, status: OrderStatus, order: OrderId) -> i64 {
    if counts(policy, status) { 0 } else { order.0 }
}

const fn counts(policy: Policy, status: OrderStatus) -> bool {
    use OrderStatus as S;
    match policy {
        Policy::Unlimited => false,
        Policy::OneUnpaid => matches!(status, S::PendingPayment | S::Paying),
        Policy::OneValid => !matches!(status, S::Closed | S::Refunded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::order_flow::{Move, next};
    use sea_orm::Iterable;

    #[test]
    fn a_slot_never_returns_to_zero() {
        let moves = [
            Move::StartPayment,
            Move::Pay,
            Move::Ship,
            Move::Receive,
            Move::Close,
            Move::BeginRefund,
            Move::Refund,
        ];
        for policy in Policy::iter() {
            for from in OrderStatus::iter().filter(|status| !counts(policy, *status)) {
                for to in moves.into_iter().filter_map(|action| next(from, action)) {
                    assert!(!counts(policy, to), "{policy:?}: {from:?} → {to:?}");
                }
            }
        }
    }

    #[test]
    fn a_paid_order_counts_only_where_one_valid_order_is_the_rule() {
        let order = OrderId(7);

        let slots = Policy::iter()
            .map(|policy| active_slot(policy, OrderStatus::Paid, order))
            .collect::<Vec<_>>();

        assert_eq!(slots, [7, 0, 7]);
    }
}

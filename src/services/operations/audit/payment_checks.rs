//! The audit's rules about money, as SQL like those of `checks`.

use super::checks::Check;

pub const ALL: [Check; 10] = [
    Check {
        rule: "an order that is paid, or was, has not exactly one booked payment",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o WHERE \
              (o.status IN ('PAID', 'SHIPPED', 'FINISHED', 'REFUNDING', 'REFUNDED')) <> \
              ((SELECT COUNT(*) FROM payment p WHERE p.order_id = o.id AND p.role = 'BOOKED' \
              AND p.status = 'SUCCEEDED') = 1)",
    },
    Check {
        rule: "a payment has a role without its money, or money without a role",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p \
              WHERE (p.status = 'SUCCEEDED') <> (p.role <> 'NONE')",
    },
    Check {
        rule: "surplus money is neither refunded nor told to a person",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p WHERE p.role = 'SURPLUS' \
              AND p.refunded_amount < p.amount AND NOT EXISTS (SELECT 1 FROM alert a \
              WHERE a.kind = 'surplus_payment' AND a.subject = '' || p.id)",
    },
    Check {
        rule: "what is reserved is not the sum of the refunds that have not failed",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p WHERE p.refunded_amount <> \
              (SELECT COALESCE(SUM(r.amount), 0) FROM refund r WHERE r.payment_id = p.id \
              AND r.status <> 'FAILED')",
    },
    Check {
        rule: "more was refunded than paid",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p \
              WHERE p.refunded_amount > p.amount",
    },
    Check {
        rule: "an order is refunded without the money being back, or the other way round",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o JOIN payment p \
              ON p.order_id = o.id AND p.role = 'BOOKED' WHERE (o.status = 'REFUNDED') <> \
              ((SELECT COALESCE(SUM(r.amount), 0) FROM refund r WHERE r.payment_id = p.id \
              AND r.status = 'SUCCEEDED') = p.amount)",
    },
    Check {
        rule: "an order's refunded amount is not the sum of its succeeded refunds",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o WHERE o.refunded_amount <> \
              (SELECT COALESCE(SUM(r.amount), 0) FROM refund r JOIN payment p \
              ON p.id = r.payment_id WHERE p.order_id = o.id AND p.role = 'BOOKED' \
              AND r.status = 'SUCCEEDED')",
    },
    Check {
        rule: "an attempt of a finished or closed order is open and nobody asked for its end",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p JOIN orders o \
              ON o.id = p.order_id WHERE o.status NOT IN ('PENDING_PAYMENT', 'PAYING') \
              AND p.status IN ('CREATED', 'LIVE', 'FAILED') AND p.close_requested_at IS NULL",
    },
    Check {
        rule: "an attempt's live slot is not what its state says",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p WHERE p.live_slot <> \
              CASE WHEN p.status IN ('CREATED', 'LIVE') AND p.close_requested_at IS NULL \
              THEN 0 ELSE p.id END",
    },
    Check {
        rule: "a message about a refund waits although nothing stands in its way",
        sql: "SELECT 'payment ' || p.id AS subject FROM payment p JOIN payment_callback c \
              ON c.payment_id = p.id AND c.outcome = 'PARKED' WHERE p.status = 'SUCCEEDED' \
              AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.payment_id = p.id \
              AND r.status IN ('REQUESTED', 'PROCESSING'))",
    },
];

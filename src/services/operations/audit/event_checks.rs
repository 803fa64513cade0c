//! The audit's rules about events, consumers and points, as SQL like those of `checks`.

use super::checks::Check;
use crate::domain::events::Consumer;

/// An event that a consumer of points acts on has a log row of this key once it was acted on.
pub const ALL: [Check; 5] = [
    Check {
        rule: "an order's points are not what was paid and refunded",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o WHERE \
              (SELECT COALESCE(SUM(l.change), 0) FROM points_ledger l WHERE l.order_id = o.id) <> \
              CASE WHEN EXISTS (SELECT 1 FROM payment p WHERE p.order_id = o.id \
              AND p.role = 'BOOKED' AND p.status = 'SUCCEEDED') \
              THEN (o.amount - o.refunded_amount \
              - (o.amount - o.refunded_amount) % o.points_unit) / o.points_unit ELSE 0 END \
              AND NOT EXISTS (SELECT 1 FROM order_event e WHERE e.order_id = o.id \
              AND e.type IN ('OrderPaid', 'RefundSucceeded') AND NOT EXISTS (SELECT 1 \
              FROM message_consume_log c WHERE c.consumer = 'loyalty_points' \
              AND c.biz_key = e.order_id || ':' || e.type || ':' || e.subject))",
    },
    Check {
        rule: "a balance of points is not the sum of its movements",
        sql: "SELECT 'the customer of order ' || MIN(l.order_id) AS subject \
              FROM points_ledger l LEFT JOIN points_account a ON a.user_id = l.user_id \
              GROUP BY l.user_id, a.balance HAVING a.balance IS NULL OR a.balance <> SUM(l.change)",
    },
    Check {
        rule: "a balance of points has no movements",
        sql: "SELECT 'a balance of ' || a.balance AS subject FROM points_account a \
              WHERE a.balance <> 0 AND NOT EXISTS (SELECT 1 FROM points_ledger l \
              WHERE l.user_id = a.user_id)",
    },
    Check {
        rule: "an event was handed over before an earlier one of its order",
        sql: "SELECT 'order ' || e.order_id || ', seq ' || e.seq AS subject FROM order_event e \
              JOIN order_event w ON w.order_id = e.order_id AND w.seq < e.seq \
              WHERE w.published_at IS NULL AND e.published_at IS NOT NULL",
    },
    Check {
        rule: "nobody was told of a dead message",
        sql: "SELECT f.consumer || ', event ' || f.event_id AS subject FROM message_failure f \
              WHERE f.dead_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM alert a \
              WHERE a.kind = 'dead_message' AND a.subject = f.consumer || ':' || f.event_id \
              AND (a.acknowledged_at IS NULL OR a.acknowledged_at >= f.dead_at))",
    },
];

pub const NOT_CONSUMED: &str = "an event was handed over and a consumer neither acted nor failed";

/// Finds what breaks [`NOT_CONSUMED`], where handing over means that every consumer has committed.
///
/// What a consumer did is younger than its event: where logs of that age were archived, nothing is missing.
pub fn not_consumed() -> String {
    let pairs = Consumer::ALL.into_iter().flat_map(|consumer| {
        let kinds = consumer.interests().iter();
        kinds.map(move |kind| format!("SELECT '{}' AS consumer, '{kind}' AS kind", consumer.name()))
    });
    let pairs: Vec<String> = pairs.collect();
    format!(
        "SELECT i.consumer || ', event ' || e.id AS subject FROM order_event e \
         JOIN ({}) i ON i.kind = e.type WHERE e.published_at IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM message_consume_log c WHERE c.consumer = i.consumer \
         AND c.biz_key = e.order_id || ':' || e.type || ':' || e.subject) \
         AND NOT EXISTS (SELECT 1 FROM message_failure f WHERE f.consumer = i.consumer \
         AND f.event_id = e.id) AND NOT EXISTS (SELECT 1 FROM archive_file a \
         WHERE a.table_name = 'message_consume_log' AND a.newest_at >= e.created_at)",
        pairs.join(" UNION ALL ")
    )
}

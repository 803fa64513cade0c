//! The rules of the audit as SQL: each query tells the rows that break one, as `subject`.

/// A rule and how to find what breaks it.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    pub rule: &'static str,
    pub sql: &'static str,
}

/// Text is joined by `||`, which `MySQL` connections understand because the driver sets
/// `PIPES_AS_CONCAT`.
pub const ALL: [Check; 10] = [
    Check {
        rule: "a stock is not the sum of its ledger",
        sql: "SELECT 'product ' || s.product_id || ': ' || s.quantity || ' pieces' AS subject \
              FROM stock s WHERE s.quantity <> (SELECT COALESCE(SUM(l.change), 0) \
              FROM stock_ledger l WHERE l.product_id = s.product_id)",
    },
    Check {
        rule: "an item was not deducted",
        sql: "SELECT 'order ' || i.order_id || ', product ' || i.product_id AS subject \
              FROM order_item i LEFT JOIN stock_ledger l ON l.product_id = i.product_id \
              AND l.reason = 'DEDUCT' AND l.biz_key = 'order:' || i.order_id \
              WHERE l.id IS NULL OR l.change <> -i.quantity",
    },
    Check {
        rule: "a deduction has no item",
        sql: "SELECT l.biz_key || ', product ' || l.product_id AS subject FROM stock_ledger l \
              WHERE l.reason = 'DEDUCT' AND NOT EXISTS (SELECT 1 FROM order_item i \
              WHERE i.product_id = l.product_id AND 'order:' || i.order_id = l.biz_key)",
    },
    Check {
        rule: "the stock of a closed or refunded order was not restored",
        sql: "SELECT 'order ' || i.order_id || ', product ' || i.product_id AS subject \
              FROM orders o JOIN order_item i ON i.order_id = o.id LEFT JOIN stock_ledger l \
              ON l.product_id = i.product_id AND l.reason = 'RESTORE' \
              AND l.biz_key = 'order:' || i.order_id \
              WHERE (o.status = 'CLOSED' OR (o.status = 'REFUNDED' AND o.shipped_at IS NULL)) \
              AND (l.id IS NULL OR l.change <> i.quantity)",
    },
    Check {
        rule: "stock was restored for an order that is neither closed nor refunded unshipped",
        sql: "SELECT l.biz_key || ', product ' || l.product_id AS subject FROM stock_ledger l \
              WHERE l.reason = 'RESTORE' AND NOT EXISTS (SELECT 1 FROM orders o \
              JOIN order_item i ON i.order_id = o.id WHERE i.product_id = l.product_id \
              AND 'order:' || o.id = l.biz_key AND (o.status = 'CLOSED' \
              OR (o.status = 'REFUNDED' AND o.shipped_at IS NULL)))",
    },
    Check {
        rule: "an order's amount is not the sum of its items",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o WHERE o.amount <> \
              (SELECT COALESCE(SUM(i.price * i.quantity), -1) FROM order_item i \
              WHERE i.order_id = o.id)",
    },
    Check {
        rule: "an order's events have gaps",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o LEFT JOIN (SELECT order_id, \
              COUNT(*) AS events, MIN(seq) AS lowest, MAX(seq) AS highest FROM order_event \
              GROUP BY order_id) e ON e.order_id = o.id WHERE e.highest <> o.last_seq \
              OR e.events <> e.highest - e.lowest + 1",
    },
    Check {
        rule: "an event does not begin where the one before ended",
        sql: "SELECT 'order ' || e.order_id || ', seq ' || e.seq AS subject FROM order_event e \
              JOIN order_event p ON p.order_id = e.order_id AND p.seq = e.seq - 1 \
              WHERE e.from_status IS NULL OR e.from_status <> p.to_status",
    },
    Check {
        rule: "an order's status is not what its last event says",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o JOIN order_event e \
              ON e.order_id = o.id AND e.seq = o.last_seq WHERE e.to_status <> o.status",
    },
    Check {
        rule: "a finished creation has neither order, payment nor refund",
        sql: "SELECT 'order ' || r.resource_id AS subject FROM idempotency_record r \
              WHERE r.status_code = 201 AND NOT EXISTS (SELECT 1 FROM orders o \
              WHERE o.id = r.resource_id) AND NOT EXISTS (SELECT 1 FROM refund f \
              WHERE f.id = r.resource_id) \
              AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.id = r.resource_id)",
    },
];

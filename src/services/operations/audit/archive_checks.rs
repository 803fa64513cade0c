//! The audit's rules about what left the tables, as SQL like those of `checks`; `archive verify` reads the files.

use super::checks::Check;

pub const ALL: [Check; 5] = [
    Check {
        rule: "an order's first events are missing although none of their age was archived",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o LEFT JOIN (SELECT order_id, \
              MIN(seq) AS lowest FROM order_event GROUP BY order_id) e ON e.order_id = o.id \
              WHERE COALESCE(e.lowest, 2) > 1 AND NOT EXISTS (SELECT 1 FROM archive_file a \
              WHERE a.table_name = 'order_event' AND a.newest_at >= o.created_at)",
    },
    Check {
        rule: "an order's events are all gone although it has not come to its end",
        sql: "SELECT 'order ' || o.id AS subject FROM orders o \
              WHERE o.status NOT IN ('FINISHED', 'CLOSED', 'REFUNDED') \
              AND NOT EXISTS (SELECT 1 FROM order_event e WHERE e.order_id = o.id)",
    },
    Check {
        rule: "a file of the archive is said to be right without rows, keys or checksum",
        sql: "SELECT a.path AS subject FROM archive_file a \
              WHERE a.state IN ('VERIFIED', 'DELETED') AND (a.row_count < 1 OR a.first_key = '' \
              OR a.last_key = '' OR a.newest_at IS NULL OR LENGTH(a.sha256) <> 64)",
    },
    Check {
        rule: "a consumer's log is in a file of the archive and in its table",
        sql: "SELECT 'message_consume_log ' || l.id AS subject FROM archive_file a \
              JOIN message_consume_log l ON l.id BETWEEN CAST(a.first_key AS SIGNED) \
              AND CAST(a.last_key AS SIGNED) AND l.created_at <= a.newest_at \
              WHERE a.table_name = 'message_consume_log' AND a.state = 'DELETED'",
    },
    Check {
        rule: "a callback is in a file of the archive and in its table",
        sql: "SELECT 'payment_callback ' || c.id AS subject FROM archive_file a \
              JOIN payment_callback c ON c.id BETWEEN CAST(a.first_key AS SIGNED) \
              AND CAST(a.last_key AS SIGNED) AND c.created_at <= a.newest_at \
              AND c.updated_at <= a.newest_at AND c.outcome IN ('APPLIED', 'STALE', 'IGNORED') \
              WHERE a.table_name = 'payment_callback' AND a.state = 'DELETED'",
    },
];

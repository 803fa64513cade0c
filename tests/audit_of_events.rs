//! The audit of events: each of its rules finds the row that breaks it, and nothing else.

use order_service::services::operations::audit;

use crate::support::Shop;
use crate::support::gateway::paid_order;

/// What breaks a rule, and words of the rule.
const BROKEN: [(&str, &str); 6] = [
    (
        "UPDATE points_ledger SET `change` = 99",
        "an order's points are not",
    ),
    (
        "UPDATE points_account SET balance = 99",
        "is not the sum of its movements",
    ),
    (
        "DELETE FROM points_ledger",
        "a balance of points has no movements",
    ),
    (
        "UPDATE order_event SET published_at = NULL WHERE seq = 1",
        "before an earlier one",
    ),
    (
        "INSERT INTO message_failure (consumer, event_id, order_id, attempts, next_attempt_at, last_error, dead_at, \
         created_at, updated_at) VALUES ('notifications', 999, 1, 8, '2026-01-01 00:00:00', '', \
         '2026-01-01 00:00:00', '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
        "nobody was told of a dead message",
    ),
    (
        "DELETE FROM message_consume_log WHERE consumer = 'notifications'",
        "neither acted nor failed",
    ),
];

#[actix_web::test]
async fn each_rule_finds_what_breaks_it() {
    for (sql, rule) in BROKEN {
        let shop = Shop::open_with(&[("rabbitmq.url", "")]).await;
        paid_order(&shop, 10_000).await;
        shop.relay().await;
        shop.assert_audit_is_clean().await;

        shop.execute(sql).await;

        let found = audit::run(&shop.app.db, &shop.app.settings).await.unwrap();
        let is_found = found.iter().any(|violation| violation.rule.contains(rule));
        assert!(is_found, "{sql}: {found:?}");
    }
}

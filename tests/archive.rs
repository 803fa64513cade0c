//! The archive: old rows leave for files that hold them whole, and nothing that may still change leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::support::archived::{
    archived, files, finished_order, finished_order_of, lines, old_callbacks, old_logs, rows,
    verified,
};
use crate::support::binary::run;
use crate::support::faults::Aside;
use crate::support::gateway::{Attempt, accepted, paid_order};
use crate::support::shop::Place;
use crate::support::{Shop, order};

/// Files of 100 rows that are deleted 30 at a time.
const SMALL: [(&str, &str); 3] = [
    ("archive.batch", "100"),
    ("archive.slice", "30"),
    ("archive.pause", "0ms"),
];
const TABLES: [&str; 4] = [
    "payment_callback",
    "message_consume_log",
    "idempotency_record",
    "order_event",
];

#[actix_web::test]
async fn old_rows_of_all_tables_leave_for_files_that_hold_every_column() {
    let shop = Shop::open().await;
    let paid = finished_order(&shop).await;
    let mut before = Vec::new();
    for table in TABLES {
        before.push(rows(&shop, table).await);
    }
    shop.advance(TimeDelta::days(31));

    let report = archived(&shop).await;

    assert!(report.is_complete);
    for ((table, before), done) in TABLES.iter().zip(before).zip(&report.tables) {
        assert!(before > 0);
        assert_eq!(rows(&shop, table).await, 0, "{table}");
        assert_eq!(i64::try_from(done.rows), Ok(before), "{table}");
    }
    let callback = &lines_of(&shop, "payment_callback")[0];
    assert_eq!(callback["event_id"], "evt-paid");
    assert_eq!(callback["order_id"], paid.order);
    assert_eq!(callback["amount"], 10_000);
    assert_eq!(callback["created_at"], "2026-12-23T04:26:40.000000Z");
    assert!(callback["raw"].as_str().unwrap().contains("succeeded"));
    let event = &lines_of(&shop, "order_event")[0];
    assert_eq!(
        (&event["seq"], &event["type"]),
        (&json!(1), &json!("OrderPlaced"))
    );
    assert_eq!(
        (&event["from_status"], &event["payload"]["amount"]),
        (&Value::Null, &json!(10_000))
    );
    let record = &lines_of(&shop, "idempotency_record")[0];
    assert_eq!(record["id"].as_str().unwrap().len(), 64);
    for (table, columns) in [
        ("payment_callback", 17),
        ("message_consume_log", 6),
        ("idempotency_record", 6),
        ("order_event", 11),
    ] {
        assert_eq!(
            lines_of(&shop, table)[0].as_object().unwrap().len(),
            columns,
            "{table}"
        );
    }
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_second_run_finds_nothing_to_do() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(31));
    archived(&shop).await;
    let before = files(&shop.place.archive());

    let report = archived(&shop).await;

    assert!(
        report
            .tables
            .iter()
            .all(|table| (table.found, table.rows) == (0, 0))
    );
    assert_eq!(files(&shop.place.archive()), before);
}

#[actix_web::test]
async fn what_may_still_change_stays() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    let carol = shop.customer("carol");
    let unpaid = carol.buy(&order("NORMAL", &[("4", 1)])).await;
    let attempt = Attempt::start(&carol, &unpaid).await;
    assert!(accepted(
        &attempt.refunded("evt-early", "R1", 5).deliver(&shop).await
    ));
    paid.message("evt-odd", "payment.succeeded", &json!({ "amount": 7 }))
        .deliver(&shop)
        .await;
    paid.message(
        "evt-lost",
        "payment.succeeded",
        &json!({ "payment_id": "7" }),
    )
    .deliver(&shop)
    .await;
    let mut body = order("NORMAL", &[("2", 1)]);
    body["user_id"] = json!("bob");
    shop.service("crm")
        .place("its-own-key", &body)
        .await
        .expect(201);
    let failed = finished_order_of(&shop, "eve").await;
    shop.relay().await;
    dead_letter(&shop, &failed).await;
    shop.advance(TimeDelta::days(400));

    archived(&shop).await;

    let outcomes = texts(
        &shop,
        "SELECT outcome FROM payment_callback ORDER BY outcome",
    )
    .await;
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome != "APPLIED" && outcome != "STALE"),
        "{outcomes:?}"
    );
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    assert_eq!(rows(&shop, "idempotency_record").await, 1);
    let orders = texts(&shop, "SELECT DISTINCT '' || status FROM orders o JOIN order_event e ON e.order_id = o.id ORDER BY 1").await;
    assert_eq!(orders, ["FINISHED", "PAID", "PAYING", "PENDING_PAYMENT"]);
    let gaps = "SELECT COUNT(*) FROM order_event e WHERE e.seq > 1 AND NOT EXISTS (SELECT 1 \
                FROM order_event p WHERE p.order_id = e.order_id AND p.seq = e.seq - 1)";
    assert_eq!(shop.number(gaps).await, 0);
}

#[actix_web::test]
async fn what_is_younger_than_the_retention_stays() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(30) - TimeDelta::seconds(1));

    let report = archived(&shop).await;

    assert!(report.tables.iter().all(|table| table.found == 0));
    assert!(files(&shop.place.archive()).is_empty());
}

#[actix_web::test]
async fn a_timeline_whose_events_were_archived_says_so() {
    let shop = Shop::open().await;
    let finished = finished_order(&shop).await;
    let path = format!("/api/orders/{}/timeline", finished.order);
    let before = shop.customer("ann").get(&path).await.expect(200);
    shop.advance(TimeDelta::days(31));

    archived(&shop).await;

    let after = shop.customer("ann").get(&path).await.expect(200);
    assert_eq!(before.body["archived"], false);
    assert_eq!(after.body, json!({ "data": [], "archived": true }));
}

#[actix_web::test]
async fn a_timeline_whose_messages_alone_were_archived_says_so_too() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    shop.advance(TimeDelta::days(31));

    archived(&shop).await;

    let path = format!("/api/orders/{}/timeline", paid.order);
    let timeline = shop.customer("ann").get(&path).await.expect(200).body;
    assert_eq!(timeline["archived"], true);
    assert_eq!(timeline["data"][0]["seq"], 1);
}

#[actix_web::test]
async fn find_shows_an_archived_callback_by_its_order_and_by_its_event() {
    let shop = Shop::open().await;
    let paid = finished_order(&shop).await;
    finished_order_of(&shop, "eve").await;
    shop.advance(TimeDelta::days(31));
    archived(&shop).await;

    let by_order = found(&shop, &["--order", &paid.order]);
    let by_event = found(&shop, &["--event", "evt-paid"]);
    let nothing = run(&shop.place, &[], &["archive", "find", "--event", "evt"]);

    assert!(by_order.iter().any(|line| line["event_id"] == "evt-paid"));
    assert!(by_order.iter().any(|line| line["type"] == "OrderPaid"));
    assert!(
        by_order
            .iter()
            .any(|line| line["consumer"] == "loyalty_points")
    );
    assert!(by_order.iter().any(|line| line["status_code"] == 201));
    assert_eq!(by_event.len(), 1);
    assert_eq!(by_event[0]["order_id"], paid.order);
    assert_eq!(nothing.status.code(), Some(1));
}

#[actix_web::test]
async fn files_are_their_owners_only() {
    let shop = Shop::open().await;
    finished_order(&shop).await;
    shop.advance(TimeDelta::days(31));

    archived(&shop).await;

    for path in files(&shop.place.archive()) {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[actix_web::test]
async fn what_is_to_be_purged_leaves_no_file_but_a_count() {
    let purge = ("archive.tables.message_consume_log", "purge");
    let shop = Shop::open_with(&[
        purge,
        ("archive.tables.order_event", "purge"),
        SMALL[0],
        SMALL[1],
        SMALL[2],
    ])
    .await;
    finished_order(&shop).await;
    let aside = Aside::to(&shop.place).await;
    let young = rows(&shop, "message_consume_log").await;
    shop.execute("UPDATE message_consume_log SET id = id + 1000")
        .await;
    old_logs(&aside, 250, "2026-01-01").await;
    shop.advance(TimeDelta::days(31));

    let report = archived(&shop).await;

    assert!(report.is_complete);
    assert_eq!(rows(&shop, "message_consume_log").await, 0);
    assert_eq!(rows(&shop, "order_event").await, 0);
    let counted = "SELECT CAST(SUM(row_count) AS SIGNED) FROM archive_file WHERE state = 'PURGED' \
                   AND table_name = 'message_consume_log'";
    assert_eq!(shop.number(counted).await, 250 + young);
    assert!(lines_of(&shop, "message_consume_log").is_empty());
    assert!(lines_of(&shop, "order_event").is_empty());
    assert_eq!(verified(&shop), 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_dry_run_counts_and_changes_nothing() {
    let shop = Shop::open().await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 250, "2026-01-01").await;

    let output = run(
        &shop.place,
        &[],
        &["archive", "run", "--dry-run", "--table", "payment_callback"],
    );

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("payment_callback: 250 rows were old, 0 archived"),
        "{said}"
    );
    assert!(!said.contains("order_event"), "{said}");
    assert_eq!(rows(&shop, "payment_callback").await, 250);
    assert_eq!(rows(&shop, "archive_file").await, 0);
    assert!(!shop.place.archive().exists());
}

#[actix_web::test]
async fn the_command_runs_beside_a_server_and_lists_what_it_did() {
    let shop = Shop::open().await;
    let aside = Aside::to(&shop.place).await;
    old_callbacks(&aside, 250, "2026-01-01").await;

    let done = run(&shop.place, &[], &["archive", "run"]);
    let listed = run(&shop.place, &[], &["archive", "list"]);

    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    assert!(
        said.contains("payment_callback: 250 rows were old, 250 archived"),
        "{said}"
    );
    let said = String::from_utf8_lossy(&listed.stdout);
    assert!(said.contains("DELETED  payment_callback/"), "{said}");
    assert!(said.contains("250 rows"), "{said}");
    assert_eq!(rows(&shop, "lease").await, 0, "the lease was given back");
}

#[actix_web::test]
async fn a_retention_of_a_day_is_refused_with_a_sentence_that_says_why() {
    let place = Place::fresh().await;

    let refused = run(&place, &[("ORDER__ARCHIVE__RETENTION", "1d")], &["serve"]);

    let said = crate::settings::refusal(&refused);
    assert!(
        said.contains("ORDER__ARCHIVE__RETENTION must be at least 7 days"),
        "{said}"
    );
    assert!(said.contains("gateways repeat a message"), "{said}");
}

/// The order's payment was never turned into points: a consumer failed for good.
async fn dead_letter(shop: &Shop, paid: &Attempt) {
    shop.execute(&format!(
        "INSERT INTO message_failure (consumer, event_id, order_id, attempts, next_attempt_at, last_error, \
         dead_at, created_at, updated_at) SELECT 'loyalty_points', id, order_id, 8, created_at, 'no', created_at, \
         created_at, created_at FROM order_event WHERE type = 'OrderPaid' AND order_id = {}",
        paid.order
    ))
    .await;
}

fn found(shop: &Shop, what: &[&str]) -> Vec<Value> {
    let output = run(&shop.place, &[], &[&["archive", "find"], what].concat());
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All rows of a table that are in files.
fn lines_of(shop: &Shop, table: &str) -> Vec<Value> {
    let files = files(&shop.place.archive());
    let own = files
        .iter()
        .filter(|path| path.parent().unwrap().ends_with(table));
    own.flat_map(|path| lines(path)).collect()
}

async fn texts(shop: &Shop, sql: &str) -> Vec<String> {
    Aside::to(&shop.place).await.texts(sql).await
}

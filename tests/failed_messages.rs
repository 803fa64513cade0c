//! Messages that cannot be acted on: tried again, dead after some tries, replayed after the fix; the others go on.

use chrono::TimeDelta;
use order_service::consumers;
use order_service::domain::events::Consumer;
use order_service::error::Error;
use order_service::services::events::retries;
use reqwest::Method;
use serde_json::json;

use crate::support::binary::run;
use crate::support::client::send;
use crate::support::events::messages;
use crate::support::gateway::{Attempt, paid_order};
use crate::support::{Reply, Shop, order};

/// What breaks an event on its way to the points, and what mends it.
const POISON: &str = "UPDATE order_event SET payload = '{}' WHERE type = 'OrderPaid'";
const CURE: &str =
    "UPDATE order_event SET payload = '{\"amount\": 10000}' WHERE type = 'OrderPaid'";
const ATTEMPTS: i64 = 8;

#[actix_web::test]
async fn a_poison_message_is_dead_after_its_tries_and_does_not_hold_up_the_others() {
    let shop = Shop::open().await;
    poisoned(&shop).await;
    shop.customer("bob")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;

    shop.relay().await;
    for attempt in 1..ATTEMPTS {
        assert_eq!(attempts(&shop).await, attempt);
        assert_eq!(dead(&shop).await, 0);
        shop.advance(TimeDelta::hours(2));
        assert_eq!(shop.retry_messages().await, 1);
    }

    assert_eq!((attempts(&shop).await, dead(&shop).await), (ATTEMPTS, 1));
    assert_eq!(shop.retry_messages().await, 0);
    assert_eq!(shop.number("SELECT COUNT(*) FROM notification").await, 3);
    assert_eq!(shop.number("SELECT COUNT(*) FROM points_ledger").await, 0);
    let alerts = shop.operator().get("/api/alerts").await.expect(200);
    assert_eq!(alerts.body["data"][0]["kind"], "dead_message");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_pauses_between_the_tries_grow() {
    let shop = Shop::open().await;
    poisoned(&shop).await;
    shop.relay().await;

    let mut pauses = Vec::new();
    for _ in 1..ATTEMPTS {
        let mut waited = 0;
        while shop.retry_messages().await == 0 {
            assert!(waited < 4_000, "it is never tried again");
            shop.advance(TimeDelta::seconds(1));
            waited += 1;
        }
        pauses.push(waited);
    }

    assert_eq!(pauses, [1, 5, 30, 120, 600, 1_800, 3_600]);
}

#[actix_web::test]
async fn a_replay_after_the_fix_succeeds_once() {
    let shop = Shop::open().await;
    let id = died(&shop).await;
    shop.execute(CURE).await;

    let first = replay(&shop, &id, "replay-1").await.expect(202);
    let again = replay(&shop, &id, "replay-1").await.expect(202);
    shop.retry_messages().await;
    let afterwards = replay(&shop, &id, "replay-1").await.expect(202);
    let another = replay(&shop, &id, "replay-2").await.expect(404);
    shop.retry_messages().await;

    assert!(!first.is_replay());
    assert_eq!(first.body["failure"]["state"], "WAITING");
    assert_eq!(first.body["failure"]["attempts"], 0);
    assert!(again.is_replay());
    assert!(afterwards.is_replay());
    assert_eq!(afterwards.body, json!({ "failure": null }));
    assert_eq!(another.code(), "not_found");
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    assert_eq!(shop.number("SELECT COUNT(*) FROM points_ledger").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_hundred_replays_at_once_have_one_effect() {
    let shop = Shop::open().await;
    let id = died(&shop).await;
    shop.execute(CURE).await;

    let keys: Vec<String> = (0..100).map(|number| format!("replay-{number}")).collect();
    let replies = keys.iter().map(|key| replay(&shop, &id, key));
    let replies = futures_util::future::join_all(replies).await;
    futures_util::future::join_all((0..10).map(|_| shop.retry_messages())).await;

    assert!(replies.iter().all(|reply| reply.status == 202));
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    assert_eq!(shop.number("SELECT COUNT(*) FROM message_failure").await, 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn copies_of_a_message_that_failed_do_not_count_as_tries() {
    let shop = Shop::open().await;
    let paid = poisoned(&shop).await;
    shop.relay().await;
    let messages = messages(&shop, &paid.order).await;
    let message = messages.iter().find(|message| message.kind == "OrderPaid");

    for _ in 0..20 {
        consumers::take(&shop.app, Consumer::LoyaltyPoints, message.unwrap())
            .await
            .unwrap();
    }

    assert_eq!((attempts(&shop).await, dead(&shop).await), (1, 0));
}

#[actix_web::test]
async fn who_took_a_message_up_and_crashed_leaves_it_to_the_next() {
    let shop = Shop::open().await;
    poisoned(&shop).await;
    shop.relay().await;
    shop.execute(CURE).await;
    shop.advance(TimeDelta::seconds(2));

    // As a process leaves it that was killed during the try: taken up, and nothing more.
    let killed = retries::deliver_due(&shop.app, async |_, _, _| Err(Error::Busy)).await;
    assert!(killed.is_err());

    assert_eq!(shop.retry_messages().await, 0);
    shop.advance(TimeDelta::minutes(2));
    assert_eq!(shop.retry_messages().await, 1);

    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn operators_see_what_failed_and_nobody_else_does() {
    let shop = Shop::open().await;
    let id = died(&shop).await;
    let operator = shop.operator();

    let list = operator
        .get("/api/failed-messages?state=DEAD")
        .await
        .expect(200);

    let row = &list.body["data"][0];
    assert_eq!(row["id"], id.as_str());
    assert_eq!(row["consumer"], "loyalty_points");
    assert_eq!(row["type"], "OrderPaid");
    assert_eq!(row["attempts"], ATTEMPTS);
    assert!(
        row["last_error"]
            .as_str()
            .unwrap()
            .contains("missing field `amount`")
    );
    let waiting = operator
        .get("/api/failed-messages?state=WAITING")
        .await
        .expect(200);
    assert_eq!(waiting.body, json!({ "data": [], "next_cursor": null }));
    for other in [shop.customer("ann"), shop.service("crm")] {
        other.get("/api/failed-messages").await.expect(403);
        let path = format!("/api/failed-messages/{id}/replay");
        other.post(&path, &json!({})).await.expect(403);
    }
}

#[actix_web::test]
async fn the_command_line_lists_the_dead_and_replays_them_beside_a_running_server() {
    let shop = Shop::open().await;
    let id = died(&shop).await;
    shop.execute(CURE).await;

    let listed = run(&shop.place, &[], &["events", "dead"]);
    let unknown = run(&shop.place, &[], &["events", "replay", "999"]);
    let replayed = run(&shop.place, &[], &["events", "replay", &id]);
    let nothing = run(&shop.place, &[], &["events", "dead"]);
    // The command's clock is the system's, and stands before the test's.
    shop.retry_messages().await;

    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(text.contains(&format!("id {id}  loyalty_points")), "{text}");
    assert!(text.contains("events: 1 dead"), "{text}");
    assert!(!unknown.status.success());
    assert!(replayed.status.success());
    assert_eq!(String::from_utf8_lossy(&nothing.stdout), "events: 0 dead\n");
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn who_dies_again_after_he_was_acknowledged_is_told_again() {
    let shop = Shop::open().await;
    let id = died(&shop).await;
    let operator = shop.operator();
    let alert = operator.get("/api/alerts").await.body["data"][0].clone();
    let path = format!(
        "/api/alerts/{}/acknowledgement",
        alert["id"].as_str().unwrap()
    );
    operator.put(&path, &json!({}), None).await.expect(200);

    replay(&shop, &id, "replay-1").await.expect(202);
    for _ in 0..ATTEMPTS {
        shop.advance(TimeDelta::hours(2));
        shop.retry_messages().await;
    }

    assert_eq!(dead(&shop).await, 1);
    let alert = operator.get("/api/alerts").await.body["data"][0].clone();
    assert_eq!(alert["acknowledged_at"], json!(null));
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_copy_that_worked_meanwhile_takes_the_failure_off_the_list() {
    let shop = Shop::open().await;
    let paid = poisoned(&shop).await;
    shop.relay().await;
    shop.execute(CURE).await;
    let messages = messages(&shop, &paid.order).await;
    let message = messages.iter().find(|message| message.kind == "OrderPaid");

    consumers::take(&shop.app, Consumer::LoyaltyPoints, message.unwrap())
        .await
        .unwrap();
    shop.advance(TimeDelta::seconds(2));
    shop.retry_messages().await;

    assert_eq!(shop.number("SELECT COUNT(*) FROM message_failure").await, 0);
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_failure_whose_event_is_gone_dies_like_any_other() {
    let shop = Shop::open().await;
    poisoned(&shop).await;
    shop.relay().await;
    shop.execute("UPDATE message_failure SET event_id = 999")
        .await;

    for _ in 1..ATTEMPTS {
        shop.advance(TimeDelta::hours(2));
        shop.retry_messages().await;
    }

    assert_eq!(dead(&shop).await, 1);
    let list = shop
        .operator()
        .get("/api/failed-messages")
        .await
        .expect(200);
    assert_eq!(list.body["data"][0]["type"], json!(null));
}

#[actix_web::test]
async fn what_fails_and_what_is_dead_are_numbers() {
    let shop = Shop::open().await;
    poisoned(&shop).await;
    shop.relay().await;
    assert_eq!(shop.metric("failing_messages").await, 1);
    assert_eq!(shop.metric("dead_messages").await, 0);

    for _ in 1..ATTEMPTS {
        shop.advance(TimeDelta::hours(2));
        shop.retry_messages().await;
    }

    assert_eq!(shop.metric("failing_messages").await, 0);
    assert_eq!(shop.metric("dead_messages").await, 1);
    assert_eq!(shop.metric("open_alerts").await, 1);
}

/// A paid order whose payment no consumer of points can read.
async fn poisoned(shop: &Shop) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    shop.execute(POISON).await;
    paid
}

/// The same, dead; the failure's id.
async fn died(shop: &Shop) -> String {
    poisoned(shop).await;
    shop.relay().await;
    for _ in 1..ATTEMPTS {
        shop.advance(TimeDelta::hours(2));
        shop.retry_messages().await;
    }
    assert_eq!(dead(shop).await, 1);
    shop.number("SELECT id FROM message_failure")
        .await
        .to_string()
}

async fn replay(shop: &Shop, id: &str, key: &str) -> Reply {
    let path = format!("/api/failed-messages/{id}/replay");
    let request = shop.operator().request(Method::POST, &path);
    send(request.header("Idempotency-Key", key).json(&json!({}))).await
}

async fn attempts(shop: &Shop) -> i64 {
    shop.number("SELECT MAX(id - id + attempts) FROM message_failure")
        .await
}

async fn dead(shop: &Shop) -> i64 {
    shop.number("SELECT COUNT(*) FROM message_failure WHERE dead_at IS NOT NULL")
        .await
}

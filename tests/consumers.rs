//! Consumers: however often, in whatever order and under whatever id a message comes, each fact has one effect.

use futures_util::future::join_all;
use order_service::consumers;
use order_service::domain::events::Consumer;
use order_service::events::Message;
use order_service::metrics::Layer;
use serde_json::json;

use crate::support::entrance::eventually;
use crate::support::events::{asked, balance, messages, publish, refunded};
use crate::support::gateway::{Attempt, paid_order};
use crate::support::{Shop, order};

#[actix_web::test]
async fn a_message_delivered_a_hundred_times_at_once_has_one_effect_at_each_consumer() {
    let shop = Shop::open().await;
    let paid = refunded(&shop, &[1_000]).await;
    shop.deliver();
    let messages = messages(&shop, &paid.order).await;

    for message in &messages {
        join_all((0..100).map(|_| publish(&shop, message))).await;
    }

    for (consumer, facts) in [
        (Consumer::LoyaltyPoints, 2),
        (Consumer::Notifications, 4),
        (Consumer::RefundExecution, 1),
    ] {
        let count = |result: &str| shop.app.metrics.events.count(consumer.name(), result);
        eventually(async || count("duplicate") == 99 * facts).await;
        assert_eq!(count("applied") + count("nothing"), facts, "{consumer:?}");
        assert_eq!(count("failed"), 0, "{consumer:?}");
        assert_eq!(intercepts(&shop, consumer), 99 * facts);
    }
    shop.app.background_calls.done().await;
    assert_eq!(balance(&shop).await, 90);
    assert_eq!(rows(&shop, "notification").await, 4);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn two_messages_about_the_same_fact_have_one_effect() {
    let shop = Shop::open().await;
    let paid = refunded(&shop, &[1_000]).await;
    shop.deliver();

    for message in messages(&shop, &paid.order).await {
        let told_again = Message {
            message_id: format!("{}-told-again", message.message_id),
            ..message.clone()
        };
        tokio::join!(publish(&shop, &message), publish(&shop, &told_again));
    }

    let duplicates = |consumer| intercepts(&shop, consumer);
    eventually(async || {
        duplicates(Consumer::LoyaltyPoints) == 2 && duplicates(Consumer::Notifications) == 4
    })
    .await;
    shop.app.background_calls.done().await;
    assert_eq!(balance(&shop).await, 90);
    assert_eq!(rows(&shop, "notification").await, 4);
    assert_eq!(rows(&shop, "points_ledger").await, 2);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_refund_is_sent_by_its_consumer_without_waiting_for_the_job() {
    let shop = Shop::open().await;
    asked(&shop, &[1_000]).await;

    shop.relay().await;

    let sent = "SELECT COUNT(*) FROM refund WHERE status = 'SUCCEEDED' AND asks = 1";
    assert_eq!(shop.number(sent).await, 1);
    shop.relay().await;
    assert_eq!(balance(&shop).await, 90);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_gateway_that_is_silent_is_no_failure_of_the_consumer() {
    let shop = Shop::open().await;
    asked(&shop, &[1_000]).await;
    shop.app.sandbox().unwrap().set_silent(true);

    shop.relay().await;

    assert_eq!(rows(&shop, "message_failure").await, 0);
    let asked = "SELECT COUNT(*) FROM refund WHERE status = 'PROCESSING' AND asks = 1";
    assert_eq!(shop.number(asked).await, 1);
    shop.app.sandbox().unwrap().set_silent(false);
    shop.advance(chrono::TimeDelta::seconds(6));
    shop.run_jobs().await;
    let back = "SELECT COUNT(*) FROM refund WHERE status = 'SUCCEEDED'";
    assert_eq!(shop.number(back).await, 1);
    shop.run_jobs().await;
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_retired_attempt_is_closed_by_its_consumer() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let order = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &order).await;
    ann.delete(&format!("/api/orders/{order}"))
        .await
        .expect(204);

    shop.relay().await;

    let payment = ann.get(&format!("/api/payments/{}", attempt.id)).await;
    assert_eq!(payment.body["status"], "CLOSED");
    let acted = "SELECT COUNT(*) FROM message_consume_log WHERE consumer = 'attempt_closing'";
    assert_eq!(shop.number(acted).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_customer_hears_what_happened_to_his_orders_and_only_to_his() {
    let shop = Shop::open().await;
    let paid = asked(&shop, &[1_000]).await;

    shop.run_jobs().await;
    shop.relay().await;

    let told = shop
        .customer("ann")
        .get("/api/notifications")
        .await
        .expect(200);
    let told = told.body["data"].as_array().unwrap().clone();
    let kinds: Vec<&str> = told
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "RefundSucceeded",
            "RefundRequested",
            "OrderPaid",
            "OrderPlaced"
        ]
    );
    assert!(
        told.iter()
            .all(|one| one["order_id"] == paid.order.as_str())
    );
    assert_eq!(
        told[0]["payload"],
        json!({ "amount": 1_000, "currency": "CNY" })
    );
    let others = shop
        .customer("bob")
        .get("/api/notifications")
        .await
        .expect(200);
    assert_eq!(others.body, json!({ "data": [], "next_cursor": null }));
    let points = shop.customer("bob").get("/api/points").await.expect(200);
    assert_eq!(
        points.body,
        json!({ "balance": 0, "data": [], "next_cursor": null })
    );
}

#[actix_web::test]
async fn notifications_come_page_after_page() {
    let shop = Shop::open().await;
    asked(&shop, &[500]).await;
    shop.run_jobs().await;
    shop.relay().await;
    let ann = shop.customer("ann");
    let whole = ann.get("/api/notifications?limit=100").await.expect(200);

    let mut pages = Vec::new();
    let mut path = "/api/notifications?limit=1".to_owned();
    loop {
        let page = ann.get(&path).await.expect(200);
        pages.extend(page.body["data"].as_array().unwrap().clone());
        let Some(cursor) = page.body["next_cursor"].as_str() else {
            break;
        };
        path = format!("/api/notifications?limit=1&cursor={cursor}");
    }

    assert_eq!(json!(pages), whole.body["data"]);
    for wrong in ["limit=0", "limit=101", "cursor=x", "cursor=-1"] {
        let refused = ann.get(&format!("/api/points?{wrong}")).await.expect(422);
        assert_eq!(refused.code(), "invalid_fields");
    }
}

async fn rows(shop: &Shop, table: &str) -> i64 {
    shop.number(&format!("SELECT COUNT(*) FROM {table}")).await
}

fn intercepts(shop: &Shop, consumer: Consumer) -> u64 {
    shop.app
        .metrics
        .intercepts(Layer::ConsumeLog, consumer.name())
}

#[actix_web::test]
async fn a_consumer_that_cannot_read_its_message_has_failed_and_the_others_go_on() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    let broken =
        "UPDATE order_event SET payload = '{\"amount\": \"many\"}' WHERE type = 'OrderPaid'";
    shop.execute(broken).await;

    shop.relay().await;

    assert_eq!(rows(&shop, "message_failure").await, 1);
    assert_eq!(rows(&shop, "notification").await, 2);
}

#[actix_web::test]
async fn an_instance_that_is_too_busy_is_no_failure_of_the_message() {
    let shop = Shop::open_with(&[
        ("rabbitmq.url", ""),
        ("bulkhead.transactions", "1"),
        ("bulkhead.queue", "1"),
        ("bulkhead.wait", "10ms"),
    ])
    .await;
    let paid = paid_order(&shop, 10_000).await;
    let message = messages(&shop, &paid.order).await.remove(0);
    let inside = shop.app.db.transaction(async |_| {
        let taken = consumers::take(&shop.app, Consumer::Notifications, &message).await;
        Ok::<_, order_service::error::Error>(taken.is_err())
    });

    assert!(inside.await.unwrap(), "it has to come again");

    assert_eq!(rows(&shop, "message_failure").await, 0);
    shop.relay().await;
    assert_eq!(rows(&shop, "notification").await, 2);
    shop.assert_audit_is_clean().await;
}

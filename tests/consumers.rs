//! Consumers: however often, in whatever order and under whatever id a message comes, each fact has one effect.

use entity::order::OrderStatus;
use futures_util::future::join_all;
use order_service::consumers;
use order_service::domain::events::Consumer;
use order_service::events::{Bus, Message};
use order_service::metrics::Layer;
use order_service::repositories::order_event;
use order_service::services::outbox;
use serde_json::json;
use uuid::Uuid;

use crate::support::entrance::eventually;
use crate::support::gateway::{Attempt, accepted, paid_order, refund};
use crate::support::{Client, Shop, order};

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
    shop.app.errands.done().await;
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
        join_all([publish(&shop, &message), publish(&shop, &told_again)]).await;
    }

    let duplicates = |consumer| intercepts(&shop, consumer);
    eventually(async || {
        duplicates(Consumer::LoyaltyPoints) == 2 && duplicates(Consumer::Notifications) == 4
    })
    .await;
    shop.app.errands.done().await;
    assert_eq!(balance(&shop).await, 90);
    assert_eq!(rows(&shop, "notification").await, 4);
    assert_eq!(rows(&shop, "points_ledger").await, 2);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn messages_in_any_order_end_in_the_same_points() {
    let shop = Shop::open().await;
    let paid = refunded(&shop, &[333, 334]).await;
    shop.deliver();
    let mut messages = messages(&shop, &paid.order).await;
    messages.reverse();

    for message in &messages {
        publish(&shop, message).await;
    }
    shop.relay().await;

    assert_eq!(balance(&shop).await, 93);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn three_parts_of_a_whole_leave_the_points_of_nothing() {
    let shop = Shop::open().await;
    let paid = asked(&shop, &[9_000]).await;
    shop.run_jobs().await;
    shop.run_jobs().await;
    let before = balance(&shop).await;

    for (part, left) in [(333, 6), (333, 3), (334, 0)] {
        ask(&shop, &paid, part).await;
        shop.run_jobs().await;
        shop.run_jobs().await;
        assert_eq!(balance(&shop).await, left);
        shop.assert_audit_is_clean().await;
    }

    assert_eq!(before, 10);
    let reply = shop.customer("ann").get("/api/points").await.expect(200);
    let changes: Vec<i64> = reply.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|movement| movement["change"].as_i64().unwrap())
        .collect();
    assert_eq!(changes, [-3, -3, -4, -90, 100]);
    assert_eq!(shop.status(&paid.order).await, OrderStatus::Refunded);
}

#[actix_web::test]
async fn refunds_of_two_payments_under_the_same_number_are_two_facts() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (first, second) = two_attempts(&shop, &ann).await;
    let early = first.refunded("back-1", "R1", 500);
    let booked = second.refunded("back-2", "R1", 500);

    for message in [second.paid("pay-2"), early, first.paid("pay-1"), booked] {
        assert!(accepted(&message.deliver(&shop).await));
    }
    shop.run_jobs().await;

    let told = "SELECT COUNT(*) FROM message_consume_log \
                WHERE consumer = 'notifications' AND biz_key LIKE '%:RefundSucceeded:%:R1'";
    assert_eq!(shop.number(told).await, 2);
    assert_eq!(balance(&shop).await, 95);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn surplus_money_that_goes_back_takes_no_points() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (first, second) = two_attempts(&shop, &ann).await;

    assert!(accepted(&second.paid("pay-2").deliver(&shop).await));
    assert!(accepted(&first.paid("pay-1").deliver(&shop).await));
    shop.run_jobs().await;
    shop.run_jobs().await;

    assert_eq!(balance(&shop).await, 100);
    let back = "SELECT COUNT(*) FROM refund WHERE origin = 'AUTOMATIC' AND status = 'SUCCEEDED'";
    assert_eq!(shop.number(back).await, 1);
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

/// An order of ann's over 10,000 that is paid, with refunds asked for.
async fn asked(shop: &Shop, parts: &[i64]) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    for part in parts {
        ask(shop, &paid, *part).await;
    }
    paid
}

/// The same with refunds that the gateway confirmed before any consumer heard of the wish.
async fn refunded(shop: &Shop, parts: &[i64]) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    for part in parts {
        let number = ask(shop, &paid, *part).await;
        let message = paid.refunded(&format!("back-{number}"), &number, *part);
        assert!(accepted(&message.deliver(shop).await));
    }
    paid
}

/// Asks for a refund under a key of its own; its number.
async fn ask(shop: &Shop, paid: &Attempt, amount: i64) -> String {
    let key = Uuid::new_v4().to_string();
    let reply = refund(&shop.operator(), paid, &key, amount).await;
    reply.expect(201).body["refund_no"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Two attempts at an order over 10,000, both of which may still bring money.
async fn two_attempts(shop: &Shop, buyer: &Client) -> (Attempt, Attempt) {
    shop.execute("UPDATE product SET price = 10000 WHERE id = 1")
        .await;
    let order = buyer.buy(&order("NORMAL", &[("1", 1)])).await;
    let first = Attempt::start(buyer, &order).await;
    assert!(accepted(&first.failed("fail-1").deliver(shop).await));
    (first, Attempt::start(buyer, &order).await)
}

/// What the outbox would tell of an order.
async fn messages(shop: &Shop, order: &str) -> Vec<Message> {
    let id = order.parse().unwrap();
    let events = order_event::of_order(shop.app.db.read(), id).await.unwrap();
    events.into_iter().map(outbox::message).collect()
}

/// Hands a message to the bus, past the outbox.
async fn publish(shop: &Shop, message: &Message) {
    let take = async |consumer, message: &_| consumers::take(&shop.app, consumer, message).await;
    shop.app.bus.publish(message, &take).await.unwrap();
}

async fn balance(shop: &Shop) -> i64 {
    let reply = shop.customer("ann").get("/api/points").await.expect(200);
    reply.body["balance"].as_i64().unwrap()
}

async fn rows(shop: &Shop, table: &str) -> i64 {
    shop.number(&format!("SELECT COUNT(*) FROM {table}")).await
}

fn intercepts(shop: &Shop, consumer: Consumer) -> u64 {
    shop.app
        .metrics
        .intercepts(Layer::ConsumeLog, consumer.name())
}

//! `POST /api/payments/callback/{gateway}`: any number of times, in any order, money is booked once.

use futures_util::future::join_all;
use order_service::metrics::Layer;
use serde_json::{Value, json};

use crate::support::gateway::{Attempt, Message, accepted};
use crate::support::{Client, Shop, order};

/// The incident: one payment notification, delivered three times, booked the money twice.
#[actix_web::test]
async fn the_success_message_pushed_three_times_books_once() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let paid = attempt.paid("evt-1");

    for _ in 0..3 {
        assert!(accepted(&paid.deliver(&shop).await));
    }

    assert_eq!(status(&ann, &attempt).await, "PAID");
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM payment WHERE role = 'BOOKED'")
            .await,
        1
    );
    assert_eq!(events(&ann, &attempt, "OrderPaid").await, 1);
    let callback = callback(&ann, &attempt).await;
    assert_eq!(
        (&callback["outcome"], &callback["deliveries"]),
        (&json!("APPLIED"), &json!(3))
    );
    shop.assert_audit_is_clean().await;
}

/// The incident's second half: then the order was set back.
#[actix_web::test]
async fn a_cancel_that_comes_after_the_success_does_not_set_the_order_back() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));

    let refused = ann
        .delete(&format!("/api/orders/{}", attempt.order))
        .await
        .expect(409);
    assert!(accepted(&attempt.closed("evt-2").deliver(&shop).await));
    assert!(accepted(&attempt.failed("evt-3").deliver(&shop).await));

    assert_eq!(refused.body["order_status"], "PAID");
    assert_eq!(status(&ann, &attempt).await, "PAID");
    assert_eq!(shop.stock("1").await, 999);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_hundred_identical_successes_at_once_book_once() {
    a_hundred_at_once(&Shop::open().await).await;
}

#[actix_web::test]
async fn without_the_lock_the_database_alone_suffices() {
    a_hundred_at_once(&Shop::open_with(&[("callbacks.lock", "false")]).await).await;
}

#[actix_web::test]
async fn while_another_holds_the_lock_only_what_is_final_hears_success() {
    let shop = Shop::open_with(&[("lock.wait", "20ms")]).await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let paid = attempt.paid("evt-1");
    let lock = format!("pay:callback:{}", attempt.order);

    let first = shop.app.locks.hold(&lock, paid.deliver(&shop)).await;
    assert!(!accepted(&first.unwrap()));
    assert_eq!(status(&ann, &attempt).await, "PAYING");
    assert!(accepted(&paid.deliver(&shop).await));
    let repeat = shop.app.locks.hold(&lock, paid.deliver(&shop)).await;

    assert!(accepted(&repeat.unwrap()));
    assert!(shop.app.metrics.intercepts(Layer::Lock, "payment_callback") >= 2);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_hundred_different_events_about_one_success_book_once() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let messages: Vec<Message> = (0..100)
        .map(|n| attempt.paid(&format!("evt-{n}")))
        .collect();

    deliver_until_accepted(&shop, &messages).await;

    assert_eq!(events(&ann, &attempt, "OrderPaid").await, 1);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM payment_callback").await,
        1
    );
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn with_the_record_archived_the_state_machine_alone_suffices() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let paid = attempt.paid("evt-1");
    assert!(accepted(&paid.deliver(&shop).await));
    shop.execute("DELETE FROM payment_callback").await;

    let replies = join_all((0..20).map(|_| paid.deliver(&shop))).await;

    assert!(replies.iter().any(accepted));
    assert_eq!(events(&ann, &attempt, "OrderPaid").await, 1);
    assert_eq!(callback(&ann, &attempt).await["outcome"], "STALE");
    assert!(
        shop.app
            .metrics
            .intercepts(Layer::StateMachine, "payment_callback")
            > 0
    );
}

#[actix_web::test]
async fn forgeries_and_stale_deliveries_write_nothing() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let paid = attempt.paid("evt-1");
    let secret = crate::support::gateway::secret(&shop.app.settings);
    let now = shop.app.clock.now();

    let forged = paid.deliver_signed(&shop, now, b"another secret").await;
    let old = paid
        .deliver_signed(&shop, now - chrono::TimeDelta::seconds(301), &secret)
        .await;
    let early = paid
        .deliver_signed(&shop, now + chrono::TimeDelta::seconds(301), &secret)
        .await;
    let truncated = Message {
        id: "evt-2".into(),
        body: json!("{\"type\":"),
    };
    let truncated = truncated.deliver(&shop).await;
    let form = paid
        .deliver_as(&shop, "application/x-www-form-urlencoded")
        .await;

    assert_eq!(
        [
            forged.status,
            old.status,
            early.status,
            truncated.status,
            form.status
        ],
        [401, 401, 401, 400, 400]
    );
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM payment_callback").await,
        0
    );
    assert_eq!(shop.app.metrics.callbacks_rejected("forged"), 3);
    assert_eq!(shop.app.metrics.callbacks_rejected("malformed"), 2);
    assert_eq!(status(&ann, &attempt).await, "PAYING");
}

#[actix_web::test]
async fn a_mismatch_fifty_times_raises_one_alert_and_the_honest_message_is_booked() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let amount = attempt.message("evt-1", "payment.succeeded", &json!({ "amount": 1 }));
    let currency = attempt.message("evt-2", "payment.succeeded", &json!({ "currency": "EUR" }));
    let other_order = attempt.message("evt-3", "payment.succeeded", &json!({ "order_id": "1" }));

    for message in [&amount, &currency, &other_order] {
        deliver_until_accepted(&shop, &vec![message.clone(); 50]).await;
    }

    assert_eq!(status(&ann, &attempt).await, "PAYING");
    let alerts = shop.operator().get("/api/alerts").await.expect(200);
    assert_eq!(alerts.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(alerts.body["data"][0]["kind"], "payment_mismatch");
    assert_eq!(alerts.body["data"][0]["subject"], json!(attempt.id));
    assert!(accepted(&attempt.paid("evt-4").deliver(&shop).await));
    assert_eq!(status(&ann, &attempt).await, "PAID");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_unknown_attempt_is_told_to_come_again_and_booked_once_it_exists() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let paid = attempt.paid("evt-1");
    shop.execute("CREATE TABLE hidden AS SELECT * FROM payment")
        .await;
    shop.execute("DELETE FROM payment").await;
    for _ in 0..3 {
        assert!(!accepted(&paid.deliver(&shop).await));
    }
    shop.execute("INSERT INTO payment SELECT * FROM hidden")
        .await;

    assert!(accepted(&paid.deliver(&shop).await));

    assert_eq!(status(&ann, &attempt).await, "PAID");
    let callback = callback(&ann, &attempt).await;
    assert_eq!(
        (&callback["outcome"], &callback["deliveries"]),
        (&json!("APPLIED"), &json!(4))
    );
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_event_of_no_interest_is_acknowledged() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let other = attempt.message("evt-1", "customer.created", &json!({}));

    for _ in 0..2 {
        assert!(accepted(&other.deliver(&shop).await));
    }

    assert_eq!(status(&ann, &attempt).await, "PAYING");
    assert_eq!(
        shop.number("SELECT deliveries FROM payment_callback").await,
        2
    );
}

#[actix_web::test]
async fn a_failed_attempt_can_still_succeed() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    assert!(accepted(&attempt.failed("evt-1").deliver(&shop).await));
    assert_eq!(status(&ann, &attempt).await, "PAYING");

    assert!(accepted(&attempt.paid("evt-2").deliver(&shop).await));

    assert_eq!(status(&ann, &attempt).await, "PAID");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_last_closed_attempt_closes_an_unpaid_order() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;

    deliver_until_accepted(&shop, &vec![attempt.closed("evt-1"); 20]).await;

    assert_eq!(status(&ann, &attempt).await, "CLOSED");
    assert_eq!(shop.stock("1").await, 1_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn money_for_a_closed_order_goes_back_once() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    ann.delete(&format!("/api/orders/{}", attempt.order))
        .await
        .expect(204);

    deliver_until_accepted(&shop, &vec![attempt.paid("evt-1"); 20]).await;

    assert_eq!(status(&ann, &attempt).await, "CLOSED");
    let refunds = ann
        .get(&format!("/api/orders/{}/refunds", attempt.order))
        .await
        .expect(200);
    assert_eq!(refunds.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(refunds.body["data"][0]["origin"], "AUTOMATIC");
    assert_eq!(refunds.body["data"][0]["amount"], attempt.amount);
    shop.run_jobs().await;
    let refunds = ann
        .get(&format!("/api/orders/{}/refunds", attempt.order))
        .await;
    assert_eq!(refunds.body["data"][0]["status"], "SUCCEEDED");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_second_attempt_that_succeeds_is_surplus_and_goes_back() {
    let shop = Shop::open().await;
    let (ann, first) = ready_to_pay(&shop).await;
    assert!(accepted(&first.failed("evt-0").deliver(&shop).await));
    let second = Attempt::start(&ann, &first.order).await;
    assert_ne!(first.id, second.id);

    assert!(accepted(&second.paid("evt-1").deliver(&shop).await));
    assert!(accepted(&first.paid("evt-2").deliver(&shop).await));
    shop.run_jobs().await;

    assert_eq!(status(&ann, &first).await, "PAID");
    let payments = ann
        .get(&format!("/api/orders/{}/payments", first.order))
        .await;
    let roles: Vec<&Value> = payments.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|payment| &payment["role"])
        .collect();
    assert_eq!(roles, ["SURPLUS", "BOOKED"]);
    assert_eq!(payments.body["data"][0]["refunded_amount"], first.amount);
    assert_eq!(payments.body["data"][1]["refunded_amount"], 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_second_success_under_another_number_alerts() {
    let shop = Shop::open().await;
    let (_, attempt) = ready_to_pay(&shop).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));

    let twice = attempt.message(
        "evt-2",
        "payment.succeeded",
        &json!({ "trade_no": "other" }),
    );
    assert!(accepted(&twice.deliver(&shop).await));

    let alerts = shop.operator().get("/api/alerts").await;
    assert_eq!(alerts.body["data"][0]["kind"], "double_charge");
}

#[actix_web::test]
async fn a_refund_before_its_payment_waits_for_it() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    let refunded = attempt.refunded("evt-1", "gw-1", attempt.amount);
    assert!(accepted(&refunded.deliver(&shop).await));
    assert_eq!(callback(&ann, &attempt).await["outcome"], "PARKED");

    assert!(accepted(&attempt.paid("evt-2").deliver(&shop).await));

    assert_eq!(status(&ann, &attempt).await, "REFUNDED");
    assert_eq!(callback(&ann, &attempt).await["outcome"], "APPLIED");
    assert_eq!(shop.stock("1").await, 1_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_gateways_own_refund_is_booked_and_never_more_than_was_paid() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));
    assert!(accepted(
        &attempt
            .refunded("evt-2", "gw-1", 10_000)
            .deliver(&shop)
            .await
    ));

    deliver_until_accepted(&shop, &vec![attempt.refunded("evt-3", "gw-2", 10_000); 5]).await;

    let order = ann.get(&format!("/api/orders/{}", attempt.order)).await;
    assert_eq!(
        (&order.body["status"], &order.body["refunded_amount"]),
        (&json!("PAID"), &json!(10_000))
    );
    let alerts = shop.operator().get("/api/alerts").await;
    assert_eq!(alerts.body["data"][0]["kind"], "over_refund");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_timeline_shows_every_message_with_its_outcome() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));
    assert!(accepted(&attempt.closed("evt-2").deliver(&shop).await));

    let timeline = ann
        .get(&format!("/api/orders/{}/timeline", attempt.order))
        .await
        .expect(200);

    let entries = timeline.body["data"].as_array().unwrap();
    let callbacks: Vec<(&str, &str)> = entries
        .iter()
        .filter(|entry| entry["kind"] == "callback")
        .map(|entry| {
            (
                entry["type"].as_str().unwrap(),
                entry["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(callbacks, [("paid", "APPLIED"), ("closed", "STALE")]);
    assert_eq!(
        entries
            .iter()
            .filter(|entry| entry["kind"] == "event")
            .count(),
        3
    );
}

async fn a_hundred_at_once(shop: &Shop) {
    let (ann, attempt) = ready_to_pay(shop).await;

    deliver_until_accepted(shop, &vec![attempt.paid("evt-1"); 100]).await;

    assert_eq!(status(&ann, &attempt).await, "PAID");
    assert_eq!(events(&ann, &attempt, "OrderPaid").await, 1);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM payment_callback").await,
        1
    );
    shop.assert_audit_is_clean().await;
}

/// All at once, as gateways do; those that heard failure come again until all are accepted.
async fn deliver_until_accepted(shop: &Shop, messages: &[Message]) {
    let mut waiting: Vec<&Message> = messages.iter().collect();
    for _ in 0..20 {
        let replies = join_all(waiting.iter().map(|message| message.deliver(shop))).await;
        let refused = waiting
            .iter()
            .zip(&replies)
            .filter(|(_, reply)| !accepted(reply));
        waiting = refused.map(|(message, _)| *message).collect();
        if waiting.is_empty() {
            return;
        }
    }
    panic!("{} messages were never accepted", waiting.len());
}

/// A customer whose order for one product is being paid.
async fn ready_to_pay(shop: &Shop) -> (Client, Attempt) {
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    (ann, attempt)
}

async fn status(client: &Client, attempt: &Attempt) -> String {
    let order = client
        .get(&format!("/api/orders/{}", attempt.order))
        .await
        .expect(200);
    order.body["status"].as_str().unwrap().to_owned()
}

async fn timeline(client: &Client, attempt: &Attempt) -> Vec<Value> {
    let reply = client
        .get(&format!("/api/orders/{}/timeline", attempt.order))
        .await
        .expect(200);
    reply.body["data"].as_array().unwrap().clone()
}

async fn events(client: &Client, attempt: &Attempt, kind: &str) -> usize {
    timeline(client, attempt)
        .await
        .iter()
        .filter(|entry| entry["type"] == kind)
        .count()
}

/// The only callback, or the first.
async fn callback(client: &Client, attempt: &Attempt) -> Value {
    let entries = timeline(client, attempt).await;
    entries
        .into_iter()
        .find(|entry| entry["kind"] == "callback")
        .unwrap()
}

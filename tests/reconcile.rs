//! What nobody told us: attempts are asked about, silence and waiting callbacks are told to a person, once.

use chrono::TimeDelta;
use entity::order::OrderStatus;
use order_service::domain::jobs::Job;
use serde_json::Value;

use crate::support::gateway::{Attempt, accepted, paid_order, refund};
use crate::support::{Client, Shop, order};

#[actix_web::test]
async fn a_payment_whose_callback_was_lost_is_found_before_its_window_ends() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (id, attempt) = begun(&ann).await;
    attempt.pay_without_a_word(&shop).await;

    shop.run_job(Job::Reconcile).await;
    assert_eq!(
        shop.status(&id).await,
        OrderStatus::Paying,
        "the callback may still come"
    );
    shop.advance(TimeDelta::minutes(2));
    shop.run_job(Job::Reconcile).await;

    assert_eq!(shop.status(&id).await, OrderStatus::Paid);
    assert!(accepted(&attempt.paid("pay-1").deliver(&shop).await));
    let booked = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderPaid'";
    assert_eq!(shop.number(booked).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn questions_about_the_same_attempt_become_rarer_and_come_at_once_when_its_time_is_over() {
    let shop = Shop::open().await;
    begun(&shop.customer("ann")).await;
    let asks = "SELECT id - id + asks FROM payment";

    let mut asked_at = Vec::new();
    for second in 0..890 {
        let before = shop.number(asks).await;
        if second % 5 == 0 {
            shop.run_job(Job::Reconcile).await;
        }
        if shop.number(asks).await > before {
            asked_at.push(second);
        }
        shop.advance(TimeDelta::seconds(1));
    }

    assert_eq!(asked_at, [60, 65, 80, 140, 440]);
    shop.advance(TimeDelta::seconds(11));
    let closed = shop.run_job(Job::CloseUnpaid).await;
    assert_eq!(closed, "1 closed, 0 paid after all, 0 unknown");
}

#[actix_web::test]
async fn a_gateway_that_is_silent_about_a_refund_for_hours_is_told_to_a_person_once() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    refund(&shop.operator(), &paid, "a", 400).await.expect(201);
    shop.app.sandbox().unwrap().set_silent(true);

    for _ in 0..12 {
        shop.run_job(Job::RetryRefunds).await;
        shop.advance(TimeDelta::hours(1));
    }

    let alerts = alerts(&shop).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["kind"], "gateway_silent");
    let open = "SELECT COUNT(*) FROM refund WHERE status = 'PROCESSING'";
    assert_eq!(shop.number(open).await, 1, "silence is no failure");
    shop.app.sandbox().unwrap().set_silent(false);
    shop.advance(TimeDelta::hours(6));
    shop.run_job(Job::RetryRefunds).await;
    assert_eq!(shop.number(open).await, 0);
}

#[actix_web::test]
async fn a_callback_that_is_parked_for_an_hour_is_told_to_a_person_once() {
    let shop = Shop::open().await;
    let (_, attempt) = begun(&shop.customer("ann")).await;
    let early = attempt.refunded("back-1", "R1", 100);
    assert!(accepted(&early.deliver(&shop).await));

    shop.run_job(Job::Reconcile).await;
    assert!(alerts(&shop).await.is_empty());
    for _ in 0..3 {
        shop.advance(TimeDelta::minutes(61));
        shop.run_job(Job::Reconcile).await;
    }

    let alerts = alerts(&shop).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["kind"], "callback_parked");
}

#[actix_web::test]
async fn a_callback_about_an_attempt_that_nobody_knows_is_told_when_nobody_repeats_it_any_more() {
    let shop = Shop::open().await;
    let nobodys = Attempt {
        id: "12345".to_owned(),
        order: "67890".to_owned(),
        amount: 100,
    };
    assert!(!accepted(&nobodys.paid("pay-1").deliver(&shop).await));

    shop.advance(TimeDelta::days(2));
    shop.run_job(Job::Reconcile).await;
    assert!(alerts(&shop).await.is_empty());
    for _ in 0..2 {
        shop.advance(TimeDelta::days(1));
        shop.run_job(Job::Reconcile).await;
    }

    let alerts = alerts(&shop).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["kind"], "callback_unresolved");
}

/// An order and its live attempt.
async fn begun(buyer: &Client) -> (String, Attempt) {
    let id = buyer.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(buyer, &id).await;
    (id, attempt)
}

async fn alerts(shop: &Shop) -> Vec<Value> {
    let reply = shop.operator().get("/api/alerts").await.expect(200);
    reply.body["data"].as_array().unwrap().clone()
}

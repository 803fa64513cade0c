//! Orders whose time to pay is over: the gateway is asked first; what is paid after all is paid, what is unknown waits.

use chrono::TimeDelta;
use entity::order::OrderStatus;
use futures_util::future::join_all;
use order_service::domain::jobs::Job;
use order_service::services::payments::close_unpaid;

use crate::support::gateway::{Attempt, accepted};
use crate::support::{Client, Shop, order};

#[actix_web::test]
async fn an_unpaid_order_closes_after_its_window_and_gives_back_stock_and_slot_once() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    shop.advance(TimeDelta::minutes(14));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 0, 0));
    assert_eq!(shop.status(&id).await, OrderStatus::PendingPayment);

    shop.advance(TimeDelta::minutes(1));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(1, 0, 0));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 0, 0));

    assert_eq!(shop.status(&id).await, OrderStatus::Closed);
    assert_eq!(shop.stock("1").await, 1_000);
    let again = buy(&ann).await;
    assert_ne!(again, id);
    let closed =
        "SELECT COUNT(*) FROM order_event WHERE type = 'OrderClosed' AND actor = 'close_unpaid'";
    assert_eq!(shop.number(closed).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_order_with_a_live_attempt_closes_once_the_attempt_is_closed_at_its_gateway() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    let attempt = Attempt::start(&ann, &id).await;

    shop.advance(TimeDelta::minutes(16));
    shop.run_job(Job::CloseUnpaid).await;

    assert_eq!(shop.status(&id).await, OrderStatus::Closed);
    let payment = ann.get(&format!("/api/payments/{}", attempt.id)).await;
    assert_eq!(payment.body["status"], "CLOSED");
    assert_eq!(shop.stock("1").await, 1_000);
    // The late money of a buyer who paid at the same instant goes back.
    assert!(accepted(&attempt.paid("pay-1").deliver(&shop).await));
    shop.run_jobs().await;
    let back = "SELECT COUNT(*) FROM refund WHERE origin = 'AUTOMATIC' AND status = 'SUCCEEDED'";
    assert_eq!(shop.number(back).await, 1);
    shop.run_jobs().await;
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_order_that_was_paid_and_whose_callback_never_came_becomes_paid() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    let attempt = Attempt::start(&ann, &id).await;
    pay_without_a_word(&shop, &attempt).await;

    shop.advance(TimeDelta::minutes(16));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 1, 0));

    assert_eq!(shop.status(&id).await, OrderStatus::Paid);
    assert_eq!(shop.stock("1").await, 999);
    // The callback that comes at last tells nothing new.
    assert!(accepted(&attempt.paid("pay-1").deliver(&shop).await));
    let booked = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderPaid'";
    assert_eq!(shop.number(booked).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn what_a_silent_gateway_does_not_say_is_neither_closed_nor_failed_and_asked_again_later() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    let attempt = Attempt::start(&ann, &id).await;
    let sandbox = shop.app.sandbox().unwrap();
    sandbox.set_silent(true);

    shop.advance(TimeDelta::minutes(16));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 0, 1));
    assert_eq!(
        shop.run_job(Job::CloseUnpaid).await,
        said(0, 0, 0),
        "not yet again"
    );
    for _ in 0..6 {
        shop.advance(TimeDelta::hours(1));
        shop.run_job(Job::CloseUnpaid).await;
    }

    assert_eq!(shop.status(&id).await, OrderStatus::Paying);
    let payment = ann.get(&format!("/api/payments/{}", attempt.id)).await;
    assert_eq!(payment.body["status"], "LIVE");
    let alerts = shop.operator().get("/api/alerts").await.expect(200);
    let alerts = alerts.body["data"].as_array().unwrap().clone();
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["kind"], "gateway_silent");
    sandbox.set_silent(false);
    shop.advance(TimeDelta::hours(6));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(1, 0, 0));
    assert_eq!(shop.status(&id).await, OrderStatus::Closed);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_attempt_that_is_not_to_be_asked_about_yet_hides_no_other_that_was_paid() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    let silent = Attempt::start(&ann, &id).await;
    assert!(accepted(&silent.failed("fail-1").deliver(&shop).await));
    let paid = Attempt::start(&ann, &id).await;
    pay_without_a_word(&shop, &paid).await;
    // As hours of silence leave it.
    shop.execute(&format!(
        "UPDATE payment SET next_ask_at = '2027-01-01 00:00:00' WHERE id = {}",
        silent.id
    ))
    .await;

    shop.advance(TimeDelta::minutes(16));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 1, 0));

    assert_eq!(shop.status(&id).await, OrderStatus::Paid);
}

#[actix_web::test]
async fn what_contradicts_our_books_is_neither_paid_nor_closed() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    let attempt = Attempt::start(&ann, &id).await;
    pay_without_a_word(&shop, &attempt).await;
    shop.execute("UPDATE sandbox_payment SET amount = amount - 1")
        .await;

    shop.advance(TimeDelta::minutes(16));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(0, 0, 1));

    assert_eq!(shop.status(&id).await, OrderStatus::Paying);
    let alerts = shop.operator().get("/api/alerts").await.expect(200);
    assert_eq!(alerts.body["data"][0]["kind"], "payment_mismatch");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn one_order_that_cannot_be_closed_holds_up_no_other() {
    let shop = Shop::open().await;
    let (ann, bob) = (shop.customer("ann"), shop.customer("bob"));
    let stuck = buy(&ann).await;
    Attempt::start(&ann, &stuck).await;
    let free = buy(&bob).await;
    shop.app.sandbox().unwrap().set_silent(true);

    shop.advance(TimeDelta::minutes(16));
    assert_eq!(shop.run_job(Job::CloseUnpaid).await, said(1, 0, 1));

    assert_eq!(shop.status(&free).await, OrderStatus::Closed);
    assert_eq!(shop.status(&stuck).await, OrderStatus::Paying);
}

#[actix_web::test]
async fn the_job_and_its_owner_at_the_same_instant_close_an_order_once() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = buy(&ann).await;
    Attempt::start(&ann, &id).await;
    shop.advance(TimeDelta::minutes(16));
    let path = format!("/api/orders/{id}");

    let cancels = join_all((0..5).map(|_| ann.delete(&path)));
    let closes = join_all((0..5).map(|_| close_unpaid::run(&shop.app)));
    let (cancels, closes) = tokio::join!(cancels, closes);

    assert!(cancels.iter().all(|reply| reply.status == 204));
    assert!(closes.iter().all(Result::is_ok));
    let closed = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderClosed'";
    assert_eq!(shop.number(closed).await, 1);
    shop.run_jobs().await;
    assert_eq!(shop.stock("1").await, 1_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_job_and_a_callback_at_the_same_instant_end_paid_or_closed_with_the_money_back() {
    for round in 0..10 {
        let shop = Shop::open().await;
        let ann = shop.customer("ann");
        let id = buy(&ann).await;
        let attempt = Attempt::start(&ann, &id).await;
        shop.advance(TimeDelta::minutes(16));
        let message = attempt.paid(&format!("pay-{round}"));

        let (heard, closed) = tokio::join!(message.deliver(&shop), close_unpaid::run(&shop.app));

        closed.unwrap();
        if !accepted(&heard) {
            assert!(accepted(&message.deliver(&shop).await));
        }
        shop.run_jobs().await;
        shop.run_jobs().await;
        let back = "SELECT COUNT(*) FROM refund WHERE status = 'SUCCEEDED'";
        let back = shop.number(back).await;
        match shop.status(&id).await {
            OrderStatus::Paid => assert_eq!((back, shop.stock("1").await), (0, 999)),
            OrderStatus::Closed => assert_eq!((back, shop.stock("1").await), (1, 1_000)),
            other => panic!("{other:?}"),
        }
        shop.assert_audit_is_clean().await;
    }
}

/// One piece of product 1.
async fn buy(buyer: &Client) -> String {
    buyer.buy(&order("NORMAL", &[("1", 1)])).await
}

/// What a run says that it did.
fn said(closed: usize, paid: usize, unknown: usize) -> String {
    format!("{closed} closed, {paid} paid after all, {unknown} unknown")
}

/// The buyer pays at the gateway, whose messages are all lost.
async fn pay_without_a_word(shop: &Shop, attempt: &Attempt) {
    shop.execute(&format!(
        "UPDATE sandbox_payment SET status = 'PAID', trade_no = 'T{0}', paid_at = expires_at \
         WHERE payment_id = {0}",
        attempt.id
    ))
    .await;
}

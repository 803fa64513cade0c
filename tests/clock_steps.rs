//! A clock that was ahead for a moment and is right again: what was written meanwhile holds nothing up for as long.

use chrono::{TimeDelta, Utc};
use entity::order::OrderStatus;
use order_service::domain::jobs::Job;
use order_service::jobs::{self, Ran};

use crate::support::faults::Aside;
use crate::support::gateway::{Attempt, paid_order, refund};
use crate::support::{Shop, order};

/// How far it was ahead.
const STEP: TimeDelta = TimeDelta::days(2);

#[actix_web::test]
async fn a_lease_that_was_written_under_a_clock_ahead_holds_nothing() {
    let shop = Shop::open().await;
    let aside = Aside::to(&shop.place).await;
    let in_two_days = (Utc::now() + TimeDelta::days(2)).timestamp_millis();
    aside
        .execute(&format!(
            "INSERT INTO lease (name, holder, until, epoch, reserved) \
             VALUES ('job:reconcile', 'killed then', {in_two_days}, 1, 0)"
        ))
        .await;

    let ran = jobs::run(&shop.app, Job::Reconcile, Utc::now()).await;

    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
}

#[actix_web::test]
async fn a_refund_whose_question_was_noted_by_a_clock_ahead_is_asked_about_when_it_is_right_again()
{
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let sandbox = shop.app.sandbox().unwrap();
    sandbox.set_silent(true);
    shop.advance(STEP);
    refund(&shop.operator(), &paid, "a", 400).await.expect(201);
    shop.run_job(Job::RetryRefunds).await;
    sandbox.set_silent(false);

    shop.advance(-STEP);
    shop.run_job(Job::RetryRefunds).await;

    let done = "SELECT COUNT(*) FROM refund WHERE status = 'SUCCEEDED'";
    assert_eq!(shop.number(done).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_attempt_that_was_made_under_a_clock_ahead_is_asked_about_when_it_is_right_again() {
    let shop = Shop::open().await;
    shop.advance(STEP);
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    attempt.pay_without_a_word(&shop).await;

    shop.advance(-STEP);
    shop.run_job(Job::Reconcile).await;

    assert_eq!(shop.status(&id).await, OrderStatus::Paid);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_overdue_order_that_was_put_off_by_a_clock_ahead_is_closed_when_it_is_right_again() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    Attempt::start(&ann, &id).await;
    let sandbox = shop.app.sandbox().unwrap();
    sandbox.set_silent(true);
    shop.advance(STEP);
    shop.run_job(Job::CloseUnpaid).await;
    sandbox.set_silent(false);

    shop.advance(TimeDelta::hours(1) - STEP);
    shop.run_job(Job::CloseUnpaid).await;

    assert_eq!(shop.status(&id).await, OrderStatus::Closed);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_failed_message_that_was_put_off_by_a_clock_ahead_is_tried_when_it_is_right_again() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    shop.execute("UPDATE order_event SET payload = '{}' WHERE type = 'OrderPaid'")
        .await;
    shop.advance(STEP);
    shop.relay().await;

    shop.advance(-STEP);
    let tried = shop.retry_messages().await;

    assert_eq!(tried, 1);
}

//! The relay: what was committed is handed over, in order per order, whatever happened in between.

use std::cell::RefCell;

use chrono::TimeDelta;
use order_service::domain::events::Consumer;
use order_service::domain::jobs::Job;
use order_service::error::Error;
use order_service::events::Message;
use order_service::jobs::relay;
use order_service::services::outbox;

use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::gateway::paid_order;
use crate::support::{Shop, order};

const WAITING: &str = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";
const TOLD: &str = "SELECT COUNT(*) FROM notification";

/// The bus of this process, whatever the profile: its consumers are called before an event counts as handed over.
const IN_PROCESS: (&str, &str) = ("rabbitmq.url", "");

#[actix_web::test]
async fn a_commit_wakes_the_relay() {
    let shop = Shop::open_with(&[("jobs.enabled", "true"), ("events.poll", "1h")]).await;
    // The relay has looked once and would look again in an hour.
    eventually(async || shop.app.metrics.events.count("notifications", "applied") == 0).await;

    shop.customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;

    eventually(async || shop.number(WAITING).await == 0).await;
    eventually(async || shop.number(TOLD).await == 1).await;
}

#[actix_web::test]
async fn the_poll_finds_what_no_commit_of_this_process_told_of() {
    let shop = Shop::open_with(&[("jobs.enabled", "true"), ("events.poll", "20ms")]).await;
    shop.customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    eventually(async || shop.number(TOLD).await == 1).await;

    let aside = Aside::to(&shop.place).await;
    aside
        .execute("UPDATE order_event SET published_at = NULL")
        .await;

    eventually(async || shop.number(WAITING).await == 0).await;
    assert_eq!(shop.number(TOLD).await, 1);
}

#[actix_web::test]
async fn what_was_handed_over_but_not_marked_has_no_second_effect() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    shop.relay().await;

    // As a relay leaves it that was killed in between.
    shop.execute("UPDATE order_event SET published_at = NULL")
        .await;
    shop.execute(
        "INSERT INTO lease (name, holder, until, epoch, reserved) \
         SELECT 'relay:' || id, 'who was killed', 1, 1, 0 FROM orders",
    )
    .await;
    shop.relay().await;

    assert_eq!(shop.number(WAITING).await, 0);
    assert_eq!(shop.number(TOLD).await, 2);
    eventually(async || shop.app.metrics.events.count("notifications", "duplicate") == 2).await;
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM lease WHERE name LIKE 'relay:%'")
            .await,
        0
    );
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn events_that_another_relay_holds_are_left_to_it() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    shop.execute(
        "INSERT INTO lease (name, holder, until, epoch, reserved) \
         SELECT 'relay:' || id, 'another', 9999999999999, 1, 0 FROM orders",
    )
    .await;

    let relayed = relay::relay(&shop.app).await.unwrap();

    assert_eq!(relayed, 0);
    assert_eq!(shop.number(WAITING).await, 3);
}

#[actix_web::test]
async fn an_event_waits_for_the_one_before_it() {
    let shop = Shop::open_with(&[IN_PROCESS]).await;
    paid_order(&shop, 10_000).await;
    let seen = RefCell::new(Vec::new());

    let pass = outbox::relay(&shop.app, &async |_: Consumer, message: &Message| {
        seen.borrow_mut().push(message.kind.clone());
        Err(Error::Busy)
    })
    .await
    .unwrap();

    assert!(pass.is_cut_short);
    assert_eq!(*seen.borrow(), ["OrderPlaced"]);
    assert_eq!(shop.number(WAITING).await, 3);
    shop.relay().await;
    assert_eq!(shop.number(WAITING).await, 0);
}

#[actix_web::test]
async fn what_the_bus_has_lost_is_brought_to_its_consumers() {
    let shop = Shop::open_with(&[IN_PROCESS]).await;
    paid_order(&shop, 10_000).await;
    // A bus that takes everything and loses it.
    outbox::relay(&shop.app, &async |_: Consumer, _: &Message| Ok(()))
        .await
        .unwrap();
    assert_eq!(shop.number(WAITING).await, 0);

    shop.run_job(Job::Reconcile).await;
    assert_eq!(shop.number(TOLD).await, 0, "it may still come");
    shop.advance(TimeDelta::minutes(11));
    shop.run_job(Job::Reconcile).await;

    assert_eq!(shop.number(TOLD).await, 2);
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_lag_of_the_outbox_is_a_number() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    shop.advance(TimeDelta::seconds(90));

    assert_eq!(number(&shop, "outbox_events").await, 3);
    assert_eq!(number(&shop, "outbox_lag_seconds").await, 90);

    shop.relay().await;
    assert_eq!(number(&shop, "outbox_events").await, 0);
    assert_eq!(number(&shop, "outbox_lag_seconds").await, 0);
}

/// A number as operators see it.
async fn number(shop: &Shop, name: &str) -> i64 {
    let reply = reqwest::get(format!("{}/metrics", shop.base))
        .await
        .unwrap();
    let text = reply.text().await.unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

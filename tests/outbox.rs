//! The relay: what was committed is handed over, in order per order, whatever happened in between.

use std::cell::RefCell;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use order_service::domain::events::Consumer;
use order_service::domain::jobs::Job;
use order_service::error::Error;
use order_service::events::Message;
use order_service::jobs::relay;
use order_service::repositories::lease::{self, Claim};
use order_service::services::events::outbox_relay;

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
    let until = Utc::now().timestamp_millis() + 60_000;
    shop.execute(&format!(
        "INSERT INTO lease (name, holder, until, epoch, reserved) \
         SELECT 'relay:' || id, 'another', {until}, 1, 0 FROM orders",
    ))
    .await;

    let relayed = relay::relay(&shop.app).await.unwrap();

    assert_eq!(relayed, 0);
    assert_eq!(shop.number(WAITING).await, 3);
}

#[actix_web::test]
async fn a_relay_whose_claim_has_passed_to_another_publishes_no_more() {
    let shop = Shop::open_with(&[IN_PROCESS]).await;
    paid_order(&shop, 10_000).await;
    let seen = RefCell::new(Vec::new());

    outbox_relay::relay(&shop.app, &async |_: Consumer, message: &Message| {
        seen.borrow_mut().push(message.kind.clone());
        shop.execute("UPDATE lease SET holder = 'another' WHERE name LIKE 'relay:%'")
            .await;
        Ok(())
    })
    .await
    .unwrap();

    assert_eq!(*seen.borrow(), ["OrderPlaced"]);
    let held = "SELECT COUNT(*) FROM lease WHERE holder = 'another'";
    assert_eq!(
        shop.number(held).await,
        1,
        "what is another's is not given back"
    );
}

#[actix_web::test]
async fn a_claim_is_taken_by_one_and_passes_on_when_it_runs_out() {
    let shop = Shop::open().await;
    let db = shop.app.db.write();
    let claim = |holder| Claim {
        name: "relay:7",
        holder,
        length: Duration::from_mins(1),
        reserved: 0,
    };

    assert!(lease::take(db, &claim("one")).await.unwrap());
    assert!(!lease::take(db, &claim("two")).await.unwrap());
    assert!(!lease::renew(db, &claim("two")).await.unwrap());
    assert!(lease::renew(db, &claim("one")).await.unwrap());
    shop.execute("UPDATE lease SET until = 1 WHERE name = 'relay:7'")
        .await;
    assert!(lease::take(db, &claim("two")).await.unwrap());
    assert!(!lease::renew(db, &claim("one")).await.unwrap());
}

#[actix_web::test]
async fn an_order_whose_events_cannot_be_read_holds_up_no_other() {
    let shop = Shop::open().await;
    let broken = paid_order(&shop, 10_000).await;
    let status = "UPDATE order_event SET to_status = 'FUTURE' WHERE type = 'OrderPaid'";
    shop.execute(status).await;
    shop.customer("bob")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;

    shop.relay().await;

    let waiting = "SELECT COUNT(DISTINCT order_id) FROM order_event WHERE published_at IS NULL";
    assert_eq!(shop.number(waiting).await, 1);
    assert_eq!(shop.number(TOLD).await, 1);
    let mended = "UPDATE order_event SET to_status = 'PAID' WHERE type = 'OrderPaid'";
    shop.execute(mended).await;
    shop.execute("UPDATE lease SET until = 1 WHERE name LIKE 'relay:%'")
        .await;
    shop.relay().await;
    assert_eq!(shop.number(WAITING).await, 0, "{}", broken.order);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_event_waits_for_the_one_before_it() {
    let shop = Shop::open_with(&[IN_PROCESS]).await;
    paid_order(&shop, 10_000).await;
    let seen = RefCell::new(Vec::new());

    let pass = outbox_relay::relay(&shop.app, &async |_: Consumer, message: &Message| {
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
    outbox_relay::relay(&shop.app, &async |_: Consumer, _: &Message| Ok(()))
        .await
        .unwrap();
    assert_eq!(shop.number(WAITING).await, 0);

    shop.run_job(Job::Redeliver).await;
    assert_eq!(shop.number(TOLD).await, 0, "it may still come");
    shop.advance(TimeDelta::minutes(11));
    shop.run_job(Job::Redeliver).await;

    assert_eq!(shop.number(TOLD).await, 2);
    assert_eq!(shop.number("SELECT balance FROM points_account").await, 100);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_lag_of_the_outbox_is_a_number() {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    shop.advance(TimeDelta::seconds(90));

    assert_eq!(shop.metric("outbox_events").await, 3);
    assert_eq!(shop.metric("outbox_lag_seconds").await, 90);

    shop.relay().await;
    assert_eq!(shop.metric("outbox_events").await, 0);
    assert_eq!(shop.metric("outbox_lag_seconds").await, 0);
}

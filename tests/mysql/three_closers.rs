//! Three instances close what is overdue at once: each order closes once, its stock and slot come back once.

use chrono::{TimeDelta, Utc};
use futures_util::future::join_all;
use order_service::domain::jobs::Job;
use order_service::jobs::{self, Ran};
use order_service::services::payments::close_unpaid;

use crate::support::gateway::Attempt;
use crate::support::{Shop, order};

const ORDERS: usize = 30;
const OPEN: &str = "SELECT COUNT(*) FROM orders WHERE status <> 'CLOSED'";

#[actix_web::test]
async fn three_instances_that_close_at_once_close_each_order_once() {
    let shop = overdue().await;
    let others = [shop.another_instance().await, shop.another_instance().await];
    let apps = [&shop.app, &others[0].app, &others[1].app];

    // Past the lease, as if it had been lost: the database alone decides.
    let closings = join_all(apps.map(|app| close_unpaid::run(app))).await;

    assert!(closings.iter().all(Result::is_ok), "{closings:?}");
    shop.advance(TimeDelta::minutes(1));
    close_unpaid::run(&shop.app).await.unwrap();
    assert_eq!(shop.number(OPEN).await, 0);
    assert_closed_once(&shop).await;
}

#[actix_web::test]
async fn three_instances_whose_schedules_agree_run_a_job_once() {
    let shop = overdue().await;
    let others = [shop.another_instance().await, shop.another_instance().await];
    let at = Utc::now();
    let apps = [&shop.app, &others[0].app, &others[1].app];

    let runs = join_all(apps.map(|app| jobs::run(app, Job::CloseUnpaid, at))).await;

    let done = runs.iter().filter(|run| matches!(run, Ok(Ran::Done(_))));
    assert_eq!(done.count(), 1, "{runs:?}");
    assert!(runs.iter().all(Result::is_ok), "{runs:?}");
    assert_eq!(shop.number(OPEN).await, 0);
    assert_closed_once(&shop).await;
}

/// Orders whose time is over, every second with an attempt at its gateway.
async fn overdue() -> Shop {
    let shop = Shop::open().await;
    for number in 0..ORDERS {
        let buyer = shop.customer(&format!("buyer-{number}"));
        let id = buyer.buy(&order("FLASH_SALE", &[("1", 1)])).await;
        if number % 2 == 0 {
            Attempt::start(&buyer, &id).await;
        }
    }
    shop.advance(TimeDelta::minutes(16));
    shop
}

async fn assert_closed_once(shop: &Shop) {
    let closed = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderClosed'";
    let orders = i64::try_from(ORDERS).unwrap();
    assert_eq!(shop.number(closed).await, orders);
    assert_eq!(shop.stock("1").await, 1_000);
    let taken = "SELECT COUNT(*) FROM order_item WHERE active_slot = 0";
    assert_eq!(shop.number(taken).await, 0);
    shop.run_jobs().await;
    shop.assert_audit_is_clean().await;
}

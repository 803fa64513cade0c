//! A broker that is not there, dies, and comes back: orders go on, nothing is lost, nothing happens twice.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::binary::{Binary, run};
use crate::support::client::{Client, address};
use crate::support::entrance::eventually_within;
use crate::support::faults::Aside;
use crate::support::rabbitmq_server::RabbitMqServer;
use crate::support::shop::{Place, unsettled};

const ORDERS: usize = 1_000;
const IN_FLIGHT: usize = 16;
/// The relay and the bus pause up to ten seconds each while the broker is away.
const CATCHING_UP: Duration = Duration::from_mins(2);
const TOLD: &str = "SELECT COUNT(*) FROM notification";
const WAITING: &str = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";

#[actix_web::test]
async fn a_broker_killed_in_the_middle_of_a_thousand_orders_costs_time_and_nothing_else() {
    let place = Place::fresh().await;
    let mut broker = RabbitMqServer::start();
    let url = broker.url();
    let server = Binary::start(&place, &at(&url));
    let shop = server.sign_in("shop", "service").await;
    let aside = Aside::to(&place).await;

    place_orders(&shop, 0..1).await;
    eventually_within(CATCHING_UP, async || aside.number(TOLD).await == 1).await;
    broker.settle();

    place_orders(&shop, 1..ORDERS / 3).await;
    broker.kill();
    place_orders(&shop, ORDERS / 3..2 * ORDERS / 3).await;
    assert!(aside.number(WAITING).await > 0, "the broker was not away");
    broker.restart();
    place_orders(&shop, 2 * ORDERS / 3..ORDERS).await;

    eventually_within(CATCHING_UP, async || aside.number(WAITING).await == 0).await;
    eventually_within(CATCHING_UP, async || aside.number(&unsettled()).await == 0).await;
    let orders = i64::try_from(ORDERS).unwrap();
    assert_eq!(aside.number("SELECT COUNT(*) FROM orders").await, orders);
    assert_eq!(aside.number(TOLD).await, orders);
    assert_eq!(
        aside.number("SELECT COUNT(*) FROM message_failure").await,
        0
    );
    assert_audit_is_clean(&place);
}

#[actix_web::test]
async fn without_a_broker_the_service_starts_takes_orders_and_catches_up_when_it_comes() {
    let place = Place::fresh().await;
    let mut broker = RabbitMqServer::start();
    let url = broker.url();
    broker.kill();

    let server = Binary::start(&place, &at(&url));
    let shop = server.sign_in("shop", "service").await;
    place_orders(&shop, 0..50).await;
    let ready = server.anonymous().get("/readyz").await.expect(200);
    let aside = Aside::to(&place).await;
    assert_eq!(aside.number(WAITING).await, 50);
    assert_eq!(aside.number(TOLD).await, 0);

    broker.restart();

    assert_eq!(ready.body["status"], "degraded");
    assert_eq!(ready.body["event_bus"], "degraded");
    eventually_within(CATCHING_UP, async || aside.number(TOLD).await == 50).await;
    eventually_within(CATCHING_UP, async || aside.number(WAITING).await == 0).await;
    eventually_within(CATCHING_UP, async || {
        let ready = server.anonymous().get("/readyz").await.expect(200);
        ready.body["status"] == "ready"
    })
    .await;
    assert_audit_is_clean(&place);
}

fn at(url: &str) -> [(&str, &str); 3] {
    [
        ("ORDER__JOBS__ENABLED", "true"),
        ("ORDER__EVENTS__POLL", "50ms"),
        ("ORDER__RABBITMQ__URL", url),
    ]
}

/// One order for each of so many customers.
async fn place_orders(shop: &Client, numbers: std::ops::Range<usize>) {
    let placing = numbers.map(|number| async move {
        let reply = shop
            .place(&Uuid::new_v4().to_string(), &order_of(number))
            .await;
        reply.expect(201);
    });
    stream::iter(placing)
        .buffer_unordered(IN_FLIGHT)
        .collect::<Vec<()>>()
        .await;
}

fn order_of(number: usize) -> Value {
    json!({
        "user_id": format!("customer-{number}"),
        "order_type": "NORMAL",
        "items": [{ "product_id": (number % 6 + 1).to_string(), "quantity": 1 }],
        "address": address("Road 1"),
    })
}

fn assert_audit_is_clean(place: &Place) {
    let audit = run(place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
}

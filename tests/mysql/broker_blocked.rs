//! A broker with an alarm (its memory or its disk is full): it takes connections and messages, and confirms nothing.

use std::time::Duration;

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually_within;
use crate::support::faults::Aside;
use crate::support::order;
use crate::support::rabbitmq_server::RabbitMqServer;
use crate::support::shop::Place;

/// The relay pauses up to ten seconds between two tries.
const CATCHING_UP: Duration = Duration::from_mins(2);
const TOLD: &str = "SELECT COUNT(*) FROM notification";

#[actix_web::test]
async fn a_broker_that_confirms_nothing_is_seen_as_blocked_and_orders_go_on() {
    let place = Place::fresh().await;
    let broker = RabbitMqServer::start();
    let url = broker.url();
    let server = Binary::start(&place, &at(&url));
    let aside = Aside::to(&place).await;
    place_order(&server, "ann").await;
    eventually_within(CATCHING_UP, async || aside.number(TOLD).await == 1).await;
    let event_bus = async || {
        let ready = server.anonymous().get("/readyz").await.expect(200);
        let part = |name: &str| ready.body[name]["event_bus"].as_str().map(str::to_owned);
        (ready.body["event_bus"].clone(), part("reasons"))
    };
    let blocked = ("degraded".into(), Some("blocked".to_owned()));

    broker.block();
    place_order(&server, "bob").await;
    eventually_within(CATCHING_UP, async || event_bus().await == blocked).await;
    let gauge = server.metric("event_bus_blocked").await;
    place_order(&server, "eve").await;
    let told_meanwhile = aside.number(TOLD).await;
    broker.unblock();

    eventually_within(CATCHING_UP, async || aside.number(TOLD).await == 3).await;
    assert_eq!(event_bus().await, ("ready".into(), None));
    assert!(
        gauge >= 1.0 && told_meanwhile == 1,
        "{gauge} {told_meanwhile}"
    );
    assert!(server.metric("event_bus_blocked").await < 1.0);
    assert_eq!(server.told("the broker confirms nothing").len(), 1);
    assert_eq!(server.told("the broker confirms messages again").len(), 1);
    let audit = run(&place, &[], &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
}

fn at(url: &str) -> [(&str, &str); 4] {
    [
        ("ORDER__JOBS__ENABLED", "true"),
        ("ORDER__EVENTS__POLL", "50ms"),
        ("ORDER__RABBITMQ__TIMEOUT", "500ms"),
        ("ORDER__RABBITMQ__URL", url),
    ]
}

async fn place_order(server: &Binary, user: &str) {
    let user = server.sign_in(user, "customer").await;
    let key = user.token().await;
    user.place(&key, &order("NORMAL", &[("1", 1)]))
        .await
        .expect(201);
}

//! SIGKILL at given steps of an event's way: what the next step needs is held by the test.

use order_service::jobs::relay;

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::gateway::paid_order;
use crate::support::order;
use crate::support::proxy::Proxy;
use crate::support::shop::{Place, manual_clock};
use crate::support::{Shop, client::Client};

const LOOPS: [(&str, &str); 3] = [
    ("ORDER__JOBS__ENABLED", "true"),
    ("ORDER__EVENTS__POLL", "20ms"),
    ("ORDER__EVENTS__LEASE", "300ms"),
];
const IN_PROCESS: (&str, &str) = ("ORDER__RABBITMQ__URL", "");
const TOLD: &str = "SELECT COUNT(*) FROM notification";
const WAITING: &str = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";

#[actix_web::test]
async fn a_relay_killed_between_publish_and_mark_publishes_again_without_a_second_effect() {
    killed_before_the_mark(&LOOPS).await;
}

#[actix_web::test]
async fn the_same_where_the_bus_is_the_process_itself() {
    killed_before_the_mark(&[LOOPS[0], LOOPS[1], LOOPS[2], IN_PROCESS]).await;
}

#[actix_web::test]
async fn a_consumer_killed_before_its_commit_acts_once() {
    killed_before_the_commit(&LOOPS).await;
}

#[actix_web::test]
async fn the_same_where_handing_over_waits_for_the_consumer() {
    killed_before_the_commit(&[LOOPS[0], LOOPS[1], LOOPS[2], IN_PROCESS]).await;
}

#[actix_web::test]
async fn a_consumer_killed_after_its_commit_and_before_the_acknowledgement_acts_once() {
    let place = Place::fresh().await;
    let broker = broker_of(&place);
    let proxy = Proxy::to(broker.parse().unwrap()).await;
    let url = url_of(&place).replace(&broker, &format!("127.0.0.1:{}", proxy.port));
    let through_proxy = [
        LOOPS[0],
        ("ORDER__EVENTS__POLL", "1h"),
        ("ORDER__RABBITMQ__URL", &url),
    ];
    let mut consumer = Binary::start(&place, &through_proxy);
    let shop = Shop::open_at(place.into(), manual_clock(), &[]).await;
    shop.customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    relay::relay(&shop.app).await.unwrap();
    let applied = r#"messages_consumed_total{consumer="notifications",result="applied"}"#;
    eventually(async || consumer.metric(applied).await > 0.0).await;

    proxy.keep_back();
    shop.customer("bob")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    relay::relay(&shop.app).await.unwrap();
    eventually(async || shop.number(TOLD).await == 2).await;
    consumer.kill();

    let next = Binary::start(&shop.place, &LOOPS);
    let duplicates = r#"messages_consumed_total{consumer="notifications",result="duplicate"}"#;
    eventually(async || next.metric(duplicates).await > 0.0).await;
    assert_eq!(shop.number(TOLD).await, 2);
    shop.assert_audit_is_clean().await;
}

/// The event's row is held, so that it is handed over and cannot be marked.
async fn killed_before_the_mark(settings: &[(&str, &str)]) {
    let place = Place::fresh().await;
    place_order(&place).await;
    let aside = Aside::to(&place).await;
    let blockade = aside
        .block_by("SELECT id FROM order_event FOR UPDATE")
        .await;

    let mut server = Binary::start(&place, settings);
    let marking = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
                   AND command <> 'Sleep' AND info LIKE 'UPDATE `order_event`%'";
    eventually(async || aside.number(marking).await == 1 && aside.number(TOLD).await == 1).await;
    server.kill();
    // The database goes on with what it was told, until the wait for the row is over.
    eventually(async || aside.number(marking).await == 0).await;
    blockade.lift().await;
    assert_eq!(aside.number(WAITING).await, 1);

    let server = Binary::start(&place, settings);
    eventually(async || aside.number(WAITING).await == 0).await;
    let duplicates = r#"messages_consumed_total{consumer="notifications",result="duplicate"}"#;
    eventually(async || server.metric(duplicates).await > 0.0).await;
    assert_eq!(aside.number(TOLD).await, 1);
    assert_eq!(run(&place, settings, &["audit"]).stdout, b"audit: clean\n");
}

/// The customer's balance is held, so that the consumer has written its log row and cannot commit.
async fn killed_before_the_commit(settings: &[(&str, &str)]) {
    let shop = Shop::open().await;
    paid_order(&shop, 10_000).await;
    let aside = Aside::to(&shop.place).await;
    aside
        .execute(
            "INSERT INTO points_account (user_id, balance, updated_at) VALUES ('ann', 0, NOW())",
        )
        .await;
    let blockade = aside
        .block_by("SELECT balance FROM points_account FOR UPDATE")
        .await;

    let mut server = Binary::start(&shop.place, settings);
    let crediting = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
                     AND command <> 'Sleep' AND info LIKE 'INSERT INTO `points_account`%'";
    eventually(async || aside.number(crediting).await == 1).await;
    server.kill();
    blockade.lift().await;
    let logged = "SELECT COUNT(*) FROM message_consume_log WHERE consumer = 'loyalty_points'";
    eventually(async || aside.number(logged).await == 0).await;

    let _server = Binary::start(&shop.place, settings);
    eventually(async || aside.number(logged).await == 1).await;
    assert_eq!(
        aside.number("SELECT balance FROM points_account").await,
        100
    );
    eventually(async || aside.number(WAITING).await == 0).await;
    let audit = run(&shop.place, settings, &["audit"]);
    assert_eq!(String::from_utf8_lossy(&audit.stdout), "audit: clean\n");
}

/// An order at an instance without loops.
async fn place_order(place: &Place) {
    let server = Binary::start(place, &[]);
    let ann: Client = server.sign_in("ann", "customer").await;
    ann.buy(&order("NORMAL", &[("1", 1)])).await;
}

fn url_of(place: &Place) -> String {
    let mut settings = place.overrides.iter();
    let url = settings.find(|(key, _)| key == "rabbitmq.url");
    url.unwrap().1.clone()
}

/// Host and port of the broker's URL.
fn broker_of(place: &Place) -> String {
    let url = url_of(place);
    let rest = url.split_once('@').unwrap().1;
    rest.split('/').next().unwrap().to_owned()
}

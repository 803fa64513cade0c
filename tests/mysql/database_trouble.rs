//! A MariaDB that closes connections, turns read-only or gives too few: what can be served is served, the rest hears 503
//! with the reason told, and all is as before when it is over.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use order_service::domain::jobs::Job;
use order_service::jobs::relay;
use serde_json::json;

use super::database_away::shop_on;
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, asks_to_repeat, crowd};
use crate::support::gateway::{Attempt, accepted};
use crate::support::mariadb_server::MariaDbServer;
use crate::support::shop::create_database;
use crate::support::{Client, Reply, Shop, order};

/// Connections of the service, which says so of itself by the database that it uses.
const CONNECTIONS: &str = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
                           WHERE db = 'orders' AND id <> CONNECTION_ID()";
const ORDERS: &str = "SELECT COUNT(*) FROM orders";

#[actix_web::test]
async fn connections_that_the_server_closed_cost_no_request_anything() {
    let server = MariaDbServer::start();
    let shop = shop_on(&server, &[("rabbitmq.url", "")]).await;
    let aside = Aside::at(&format!("{}/mysql", server.url())).await;
    let ann = shop.customer("ann");
    for round in ["reads", "creations", "relay"] {
        warm_up(&shop, &aside, round).await;
        let buyers = crowd(&shop, 20).await;
        let killed = kill_connections(&aside).await;
        assert!(killed >= 10, "{round}: only {killed} were open");

        match round {
            "reads" => {
                let reads = join_all((0..20).map(|_| ann.get("/api/orders"))).await;
                assert!(reads.iter().all(|read| read.status == 200), "{reads:?}");
            }
            "creations" => {
                let body = order("NORMAL", &[("1", 1)]);
                let made = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;
                assert!(made.iter().all(|made| made.status == 201), "{made:?}");
            }
            _ => assert!(relay::relay(&shop.app).await.unwrap() > 0),
        }
        shop.anonymous().get("/readyz").await.expect(200);
    }
    shop.assert_audit_is_clean().await;
}

/// A job begins with a change, which is not run again when nobody knows whether it was done.
#[actix_web::test]
async fn connections_that_died_while_they_rested_are_not_lent_to_a_job() {
    let server = MariaDbServer::start();
    let shop = shop_on(&server, &[("database.test_after", "10ms")]).await;
    let aside = Aside::at(&format!("{}/mysql", server.url())).await;
    warm_up(&shop, &aside, "before").await;
    let at_rest = Instant::now();
    assert!(kill_connections(&aside).await >= 10);
    eventually(async || at_rest.elapsed() > Duration::from_millis(20)).await;

    let done = shop.run_job(Job::CloseUnpaid).await;

    assert!(done.starts_with("0 closed"), "{done}");
    let dead = "database_connections_closed_total{reason=\"dead\"}";
    assert!(shop.metric(dead).await > 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_server_that_turned_read_only_is_told_and_serves_the_same_keys_when_it_writes_again() {
    let server = MariaDbServer::start();
    let root = Aside::at(&format!("{}/mysql", server.url())).await;
    let shop = shop_of_plain_user(&server, &root, &[]).await;
    let buyers = crowd(&shop, 20).await;
    let (payer, attempt) = ready_to_pay(&shop).await;
    warm_up(&shop, &root, "before").await;
    let before: HashSet<String> = root.texts(CONNECTIONS).await.into_iter().collect();
    let body = order("NORMAL", &[("1", 2)]);
    root.execute("SET GLOBAL read_only = 1").await;

    let made = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;
    let unpaid = attempt.paid("evt-1").deliver(&shop).await;
    let payments = format!("/api/orders/{}/payments", attempt.order);
    let again = payer
        .post(&payments, &json!({ "gateway": "sandbox" }))
        .await;
    let readiness = shop.anonymous().get("/readyz").await.expect(503);
    let reads = join_all((0..20).map(|_| payer.get("/api/orders"))).await;
    let open: HashSet<String> = root.texts(CONNECTIONS).await.into_iter().collect();

    for reply in made.iter().chain([&again]) {
        assert_eq!(reply.status, 503, "{reply:?}");
        assert_eq!(reply.code(), "database_unavailable", "{reply:?}");
        assert!(asks_to_repeat(reply), "{reply:?}");
    }
    assert!(!accepted(&unpaid));
    assert_eq!(readiness.body["reasons"]["database"], "read_only");
    assert_eq!(shop.metric(&trouble("read_only")).await, 1);
    assert!(reads.iter().all(|read| read.status == 200), "{reads:?}");
    assert!(open.is_disjoint(&before), "{open:?} of {before:?}");

    root.execute("SET GLOBAL read_only = 0").await;
    let made = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;
    assert!(made.iter().all(|made| made.status == 201), "{made:?}");
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));
    shop.anonymous().get("/readyz").await.expect(200);
    assert_eq!(shop.metric(&trouble("read_only")).await, 0);
    assert_eq!(shop.number(ORDERS).await, 61);
    assert_eq!(shop.stock("1").await, 960);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_server_with_fewer_connections_than_the_pool_wants_serves_a_hundred_at_once() {
    let server = MariaDbServer::start_with(&["--max-connections=12"]);
    // One more than the limit is kept for administrators.
    let root = Aside::at(&format!("{}/mysql", server.url())).await;
    let shop = shop_of_plain_user(&server, &root, &[("database.max_connections", "40")]).await;
    let buyers = crowd(&shop, 100).await;
    let body = order("NORMAL", &[("1", 2)]);

    let made = join_all(buyers.iter().map(|buyer| buyer.place(&body))).await;

    let refused: Vec<&Reply> = made.iter().filter(|made| made.status != 201).collect();
    assert!(refused.is_empty(), "{} {refused:?}", refused.len());
    let limit = shop.metric("database_connection_limit").await;
    assert!((1..=12).contains(&limit), "{limit}");
    shop.anonymous().get("/readyz").await.expect(200);
    assert_eq!(shop.number(ORDERS).await, 100);
    assert_eq!(shop.stock("1").await, 800);
    shop.assert_audit_is_clean().await;
}

/// Opens many connections, all of which rest afterwards.
async fn warm_up(shop: &Shop, aside: &Aside, name: &str) {
    let buyers = (0..40).map(|number| shop.customer(&format!("{name}-{number}")));
    let body = order("NORMAL", &[("2", 1)]);
    join_all(buyers.map(async |buyer| buyer.buy(&body).await)).await;
    let busy = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = 'orders' \
                AND command <> 'Sleep'";
    eventually(async || aside.number(busy).await == 0).await;
}

/// Ends all connections of the service, as a server does with those that rested for too long; tells how many.
async fn kill_connections(aside: &Aside) -> usize {
    let open = aside.texts(CONNECTIONS).await;
    for id in &open {
        // It may have ended by itself.
        let _ = aside.try_execute(&format!("KILL {id}")).await;
    }
    eventually(async || {
        let left = aside.texts(CONNECTIONS).await;
        !left.iter().any(|id| open.contains(id))
    })
    .await;
    open.len()
}

/// The service with a user who may do all in its database and nothing else: `read_only` holds for him.
async fn shop_of_plain_user(
    server: &MariaDbServer,
    root: &Aside,
    changes: &[(&str, &str)],
) -> Shop {
    create_database(&server.url(), "orders").await;
    root.execute("CREATE USER shop@'127.0.0.1'").await;
    root.execute("GRANT ALL ON orders.* TO shop@'127.0.0.1'")
        .await;
    let url = format!("{}/orders", server.url().replace("root@", "shop@"));
    let own = [("database.url", url.as_str()), ("rabbitmq.url", "")];
    Shop::open_with(&[&own, changes].concat()).await
}

async fn ready_to_pay(shop: &Shop) -> (Client, Attempt) {
    let payer = shop.customer("payer");
    let id = payer.buy(&order("NORMAL", &[("3", 1)])).await;
    let attempt = Attempt::start(&payer, &id).await;
    (payer, attempt)
}

fn trouble(kind: &str) -> String {
    format!("database_trouble{{kind=\"{kind}\"}}")
}

//! The database server is killed, restarted or frozen while creations run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use rand::RngExt;

use crate::support::entrance::eventually;
use crate::support::faults::{Aside, asks_to_repeat, crowd, insist_all};
use crate::support::mariadb_server::MariaDbServer;
use crate::support::shop::{Place, create_database, manual_clock};
use crate::support::{Reply, Shop, order};

/// Two transactions, two who wait for one, and four connections for reads.
const NARROW: [(&str, &str); 5] = [
    ("bulkhead.transactions", "2"),
    ("bulkhead.queue", "2"),
    ("bulkhead.wait", "1m"),
    ("database.max_connections", "6"),
    ("database.acquire_timeout", "1s"),
];

#[actix_web::test]
async fn a_database_killed_twice_during_creations_has_one_order_for_each_token() {
    let mut server = MariaDbServer::start();
    let shop = shop_on(&server, &[("database.acquire_timeout", "500ms")]).await;
    let buyers = crowd(&shop, 80).await;
    let body = order("NORMAL", &[("1", 2)]);
    let mut heard = Vec::new();
    for some in buyers.chunks(40) {
        let sending = some
            .iter()
            .map(|buyer| async { (&buyer.key, buyer.place(&body).await) });
        let mut replies = stream::iter(sending).buffer_unordered(16);
        let answers = rand::rng().random_range(0..20);
        heard.extend(replies.by_ref().take(answers).collect::<Vec<_>>().await);
        server.kill();
        heard.extend(replies.collect::<Vec<_>>().await);
        let readiness = shop.anonymous().get("/readyz").await.expect(503);
        assert_eq!(readiness.body["database"], "down");
        server.restart();
        // Not at once: connections of before are found to be dead one after the other.
        eventually(async || shop.anonymous().get("/readyz").await.status == 200).await;
    }

    let repeats = insist_all(&buyers, &body).await;

    assert!(heard.iter().all(|(_, reply)| is_clear(reply)), "{heard:?}");
    for (buyer, repeat) in buyers.iter().zip(&repeats) {
        let mut promised = heard.iter().filter(|(_, reply)| reply.status == 201);
        let earlier = promised.find(|(key, _)| **key == buyer.key);
        assert!(earlier.is_none_or(|(_, reply)| repeat.is_replay() && repeat.id() == reply.id()));
    }
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 80);
    assert_eq!(shop.stock("1").await, 840);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_database_that_freezes_under_a_crowd_turns_it_away_and_serves_it_later() {
    let server = MariaDbServer::start();
    let shop = shop_on(&server, &NARROW).await;
    let aside = Aside::at(&format!("{}/orders", server.url())).await;
    let buyers = crowd(&shop, 40).await;
    let body = order("NORMAL", &[("1", 2)]);
    let (early, late) = buyers.split_at(8);
    let metrics = &shop.app.metrics;
    let blockade = aside.block(1).await;
    let freeze = async {
        eventually(async || metrics.bulkhead_refusals.get() == 4).await;
        eventually(async || aside.waiting().await == 2).await;
        server.pause();
        let late = late.iter().map(|buyer| buyer.place(&body));
        let mut answers = stream::iter(late).buffer_unordered(32);
        let turned_away: Vec<Reply> = in_time(answers.by_ref().take(28).collect()).await;
        let readiness = in_time(shop.anonymous().get("/readyz")).await;
        server.resume();
        blockade.lift().await;
        let held_up: Vec<Reply> = answers.collect().await;
        (turned_away, readiness.expect(503), held_up)
    };
    let early = join_all(early.iter().map(|buyer| buyer.place(&body)));

    let (early, (turned_away, readiness, held_up)) = tokio::join!(early, freeze);

    let busy = early.iter().filter(|reply| reply.code() == "busy").count();
    assert!(busy >= 4, "two are inside, two in the queue: {early:?}");
    assert!(turned_away.iter().all(|reply| reply.status == 503));
    assert_eq!(readiness.body["database"], "down");
    let mut all = early.iter().chain(&turned_away).chain(&held_up);
    assert!(all.all(is_clear), "{early:?} {turned_away:?} {held_up:?}");
    insist_all(&buyers, &body).await;
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 40);
    assert_eq!(shop.stock("1").await, 920);
    shop.assert_audit_is_clean().await;
    assert_notices_a_freeze_while_idle(&shop, &server).await;
}

/// A ping on a connection that is open gets no answer at all.
async fn assert_notices_a_freeze_while_idle(shop: &Shop, server: &MariaDbServer) {
    let status = async || in_time(shop.anonymous().get("/readyz")).await.status;
    assert_eq!(status().await, 200);
    server.pause();
    eventually(async || status().await == 503).await;
    server.resume();
    eventually(async || status().await == 200).await;
}

/// Whether the client knows what to do: it is done, or to be asked for again.
fn is_clear(reply: &Reply) -> bool {
    reply.status == 201 || asks_to_repeat(reply)
}

/// What must be answered although the database does not answer.
async fn in_time<T>(answer: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(Duration::from_secs(10), answer);
    answer.await.expect("an answer within ten seconds")
}

/// An instance on a database server of the test's own.
pub(super) async fn shop_on(server: &MariaDbServer, changes: &[(&str, &str)]) -> Shop {
    create_database(&server.url(), "orders").await;
    let url = format!("{}/orders", server.url());
    let place = Arc::new(Place::fresh().await);
    let changes = [&[("database.url", url.as_str())], changes].concat();
    Shop::open_at(place, manual_clock(), &changes).await
}

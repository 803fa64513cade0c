//! A database that answers nothing, or too late: each request is told so in time, and the same keys give one order each
//! afterwards.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use order_service::jobs::relay;

use super::database_away::shop_on;
use crate::support::entrance::{eventually, eventually_within};
use crate::support::faults::{Buyer, PATIENCE, asks_to_repeat, crowd, insist_all};
use crate::support::mariadb_server::MariaDbServer;
use crate::support::shop::{Place, create_database, manual_clock, unsettled};
use crate::support::sql_proxy::{Fault, Moment, Rule, SqlProxy};
use crate::support::{Client, Reply, Shop, order};

/// Whoever waits for an answer is told within this: deadline, grace, and a machine that is busy.
const ANSWERED: Duration = Duration::from_secs(8);
const HASTY: [(&str, &str); 5] = [
    ("server.deadline", "1s"),
    ("server.read_deadline", "1s"),
    ("database.deadline", "1s"),
    ("events.lease", "1s"),
    ("rabbitmq.url", ""),
];
const ORDERS: &str = "SELECT COUNT(*) FROM orders";
const WAITING: &str = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";

#[actix_web::test]
async fn a_server_that_stands_still_is_told_within_the_deadline_and_goes_on_where_it_was() {
    let server = MariaDbServer::start();
    let shop = shop_on(&server, &HASTY).await;
    let stillness = Stillness::prepare(&shop).await;
    server.pause();

    let told = stillness.is_told().await;

    server.resume();
    stillness.is_over(&told).await;
}

#[actix_web::test]
async fn a_network_that_swallows_all_is_told_within_the_deadline_and_leaves_nothing_behind() {
    let server = MariaDbServer::start();
    create_database(&server.url(), "orders").await;
    let proxy = SqlProxy::before(&format!("{}/orders", server.url())).await;
    let changes = [&[("database.url", proxy.url())], &HASTY[..]].concat();
    let shop = Shop::open_with(&changes).await;
    let stillness = Stillness::prepare(&shop).await;
    let words = proxy.arm(Rule::new(Moment::Anything, Fault::Swallow));
    proxy.arm(Rule::new(Moment::Connect, Fault::Swallow));

    let told = stillness.is_told().await;

    proxy.lift();
    assert!(words.met() > 0);
    stillness.is_over(&told).await;
}

/// Done after the deadline: the buyer heard that nobody knows, and his key finds the order.
#[actix_web::test]
async fn a_commit_that_comes_after_the_deadline_is_found_by_the_same_key() {
    let place = Place::fresh().await;
    let mut urls = place.overrides.iter();
    let (_, url) = urls.find(|(key, _)| key == "database.url").unwrap();
    let proxy = SqlProxy::before(url).await;
    let changes = [("database.url", proxy.url()), ("server.deadline", "500ms")];
    let shop = Shop::open_at(place.into(), manual_clock(), &changes).await;
    let ann = Buyer::new(shop.customer("ann")).await;
    let body = order("NORMAL", &[("1", 2)]);
    let late = Fault::Delay(Duration::from_millis(1_500));
    let late = proxy.arm(Rule::new(Moment::Commit, late).times(1));

    let heard = ann.place(&body).await;

    assert_eq!(late.met(), 1);
    assert!(asks_to_repeat(&heard.expect(503)));
    let found = ann.insist(&body).await;
    assert_eq!(ann.place(&body).await.expect(201).id(), found.id());
    assert_eq!(shop.number(ORDERS).await, 1);
    shop.assert_audit_is_clean().await;
}

/// A shop with orders, before its database answers nothing.
struct Stillness<'a> {
    shop: &'a Shop,
    buyers: Vec<Buyer>,
    reader: Client,
}

impl<'a> Stillness<'a> {
    async fn prepare(shop: &'a Shop) -> Self {
        let buyers = crowd(shop, 40).await;
        let reader = shop.customer("reader");
        reader.buy(&body()).await;
        Self {
            shop,
            buyers,
            reader,
        }
    }

    /// Creations and reads at once; all are answered in time, and it is told what is wrong.
    async fn is_told(&self) -> Vec<Reply> {
        let started = Instant::now();
        let body = body();
        let creations = join_all(self.buyers.iter().map(|buyer| buyer.place(&body)));
        let reads = join_all((0..20).map(|_| self.reader.get("/api/orders")));
        let (mut heard, reads) = tokio::join!(creations, reads);
        let took = started.elapsed();
        heard.extend(reads);
        let readiness = self.shop.anonymous().get("/readyz").await.expect(503);
        assert!(took < ANSWERED, "{took:?}");
        assert!(heard.iter().all(asks_to_repeat), "{heard:?}");
        assert_eq!(readiness.body["reasons"]["database"], "unreachable");
        assert!(relay::relay(&self.shop.app).await.is_err());
        heard
    }

    /// The same keys give one order each, and what waits is handed over.
    async fn is_over(&self, told: &[Reply]) {
        let shop = self.shop;
        assert_eq!(told.len(), 60);
        eventually(async || shop.anonymous().get("/readyz").await.status == 200).await;
        let made = insist_all(&self.buyers, &body()).await;
        let ids: HashSet<String> = made.iter().map(Reply::id).collect();
        assert_eq!(ids.len(), 40);
        assert_eq!(shop.number(ORDERS).await, 41);
        assert_eq!(shop.stock("1").await, 918);
        let reads = join_all((0..20).map(|_| self.reader.get("/api/orders"))).await;
        assert!(reads.iter().all(|read| read.status == 200), "{reads:?}");
        eventually_within(PATIENCE, async || {
            relay::relay(&shop.app).await.is_ok() && shop.number(WAITING).await == 0
        })
        .await;
        assert_eq!(shop.number(&unsettled()).await, 0);
        shop.assert_audit_is_clean().await;
    }
}

fn body() -> serde_json::Value {
    order("NORMAL", &[("1", 2)])
}

//! Callbacks at two instances, and with Redis or the database failing among them: money is booked once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use rand::RngExt;
use redis::Commands;

use super::database_away::shop_on;
use super::redis_away::shops;
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Blockade};
use crate::support::gateway::{Attempt, Message, accepted};
use crate::support::mariadb_server::MariaDbServer;
use crate::support::redis_server::RedisServer;
use crate::support::{Client, Reply, Shop, order};

/// So long a gateway repeats in vain.
const PATIENCE: Duration = Duration::from_secs(10);
/// A callback is given up after four seconds; gateways wait five.
const GIVEN_UP: std::ops::Range<Duration> = Duration::from_millis(3_900)..Duration::from_secs(5);

#[actix_web::test]
async fn a_hundred_identical_successes_at_two_instances_book_once() {
    let shop = Shop::open().await;
    let instances = [&shop, &shop.another_instance().await];
    let (_, attempt) = ready_to_pay(&shop, "ann").await;
    let paid = attempt.paid("evt-1");

    deliver_until_accepted(&instances, &vec![paid; 100]).await;

    assert_booked_once(&shop, &attempt).await;
}

#[actix_web::test]
async fn a_redis_killed_among_a_hundred_successes_leaves_them_to_the_database() {
    let mut redis = RedisServer::start();
    let (shop, other) = shops(&redis.url(), "1s").await;
    let instances = [&shop, &other];
    let (_, attempt) = ready_to_pay(&shop, "ann").await;
    let paid = attempt.paid("evt-1");
    let aside = Aside::to(&shop.place).await;
    let blockade = aside.block_order(&attempt.order).await;
    let meanwhile = async {
        eventually(async || aside.waiting_for_order().await == 1).await;
        redis.stop();
        let crowd = vec![paid.clone(); 99];
        let crowd = deliver_until_accepted(&instances, &crowd);
        let release = async {
            // The first, and one more by the lock of each instance alone.
            eventually(async || aside.waiting_for_order().await == 3).await;
            blockade.lift().await;
        };
        tokio::join!(crowd, release)
    };

    let (first, _) = tokio::join!(paid.deliver(&shop), meanwhile);

    assert!(accepted(&first));
    assert_booked_once(&shop, &attempt).await;
}

#[actix_web::test]
async fn a_lock_that_ends_in_the_middle_of_a_success_lets_others_in_and_books_once() {
    let redis = RedisServer::start();
    let (shop, other) = shops(&redis.url(), "1s").await;
    let instances = [&shop, &other];
    let (_, attempt) = ready_to_pay(&shop, "ann").await;
    let paid = attempt.paid("evt-1");
    let aside = Aside::to(&shop.place).await;
    let blockade = aside.block_order(&attempt.order).await;
    let crowd = vec![paid; 100];
    let expiry = async {
        for inside in 1..=5 {
            eventually(async || aside.waiting_for_order().await == inside).await;
            assert_eq!(end_locks(&redis), 1);
        }
        blockade.lift().await;
    };

    tokio::join!(deliver_until_accepted(&instances, &crowd), expiry);

    assert_booked_once(&shop, &attempt).await;
}

#[actix_web::test]
async fn a_database_killed_during_callbacks_makes_them_fail_and_come_again() {
    let mut server = MariaDbServer::start();
    let shop = shop_on(&server, &[("database.acquire_timeout", "200ms")]).await;
    let buyers = (0..40).map(|number| format!("buyer-{number}"));
    let buyers = join_all(buyers.map(async |name| ready_to_pay(&shop, &name).await.1)).await;
    let messages: Vec<Message> = buyers
        .iter()
        .map(|attempt| attempt.paid(&format!("paid-{}", attempt.id)))
        .collect();
    let sending = messages
        .iter()
        .map(|message| async { (&message.id, message.deliver(&shop).await) });
    let mut replies = stream::iter(sending).buffer_unordered(20);
    let answers = rand::rng().random_range(0..15);
    let mut heard: Vec<(&String, Reply)> = replies.by_ref().take(answers).collect().await;
    server.kill();
    heard.extend(replies.collect::<Vec<_>>().await);
    server.restart();

    eventually(async || shop.anonymous().get("/readyz").await.status == 200).await;

    let (kept, failed): (Vec<_>, Vec<_>) =
        heard.into_iter().partition(|(_, reply)| accepted(reply));
    assert!(!failed.is_empty(), "the outage was not noticed");
    let aside = Aside::at(&format!("{}/orders", server.url())).await;
    let known = aside.texts("SELECT event_id FROM payment_callback").await;
    let known: HashSet<String> = known.into_iter().collect();
    assert!(kept.iter().all(|(id, _)| known.contains(*id)));
    deliver_until_accepted(&[&shop], &messages).await;
    assert_eq!(shop.number(PAID_EVENTS).await, 40);
    let paid = "SELECT COUNT(*) FROM orders WHERE status = 'PAID'";
    assert_eq!(shop.number(paid).await, 40);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_success_held_up_beyond_its_deadline_hears_failure_and_is_booked_later() {
    let shop = Shop::open().await;
    let (ann, attempt) = ready_to_pay(&shop, "ann").await;
    let paid = attempt.paid("evt-1");
    let blockade = Aside::to(&shop.place)
        .await
        .block_order(&attempt.order)
        .await;
    let started = Instant::now();

    let held_up = paid.deliver(&shop).await;

    let took = started.elapsed();
    assert!(!accepted(&held_up));
    assert!(GIVEN_UP.contains(&took), "{took:?}");
    assert_eq!(status(&ann, &attempt).await, "PAYING");
    blockade.lift().await;
    deliver_until_accepted(&[&shop], &[paid]).await;
    assert_booked_once(&shop, &attempt).await;
}

#[actix_web::test]
async fn a_repeat_held_up_beyond_its_deadline_hears_success_by_one_read() {
    let shop = Shop::open().await;
    let (_, attempt) = ready_to_pay(&shop, "ann").await;
    let paid = attempt.paid("evt-1");
    assert!(accepted(&paid.deliver(&shop).await));
    let aside = Aside::to(&shop.place).await;
    let blockade = aside.block_order(&attempt.order).await;
    // An event of its own about the same payment has no record that could be read.
    let closed = attempt.closed("evt-2");
    let started = Instant::now();

    let (repeat, news) = tokio::join!(paid.deliver(&shop), closed.deliver(&shop));

    let took = started.elapsed();
    assert!(accepted(&repeat));
    assert!(!accepted(&news));
    assert!(GIVEN_UP.contains(&took), "{took:?}");
    blockade.lift().await;
    assert_booked_once(&shop, &attempt).await;
}

const PAID_EVENTS: &str = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderPaid'";

impl Aside {
    /// Holds up every callback about the order when it takes the order's row, which it does first.
    async fn block_order(&self, order: &str) -> Blockade {
        let sql = format!("SELECT id FROM orders WHERE id = {order} FOR UPDATE");
        self.block_by(&sql).await
    }

    /// How many callbacks have come to the row.
    async fn waiting_for_order(&self) -> i64 {
        self.number(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND command <> 'Sleep' AND info LIKE 'SELECT `orders`%FOR UPDATE%'",
        )
        .await
    }
}

/// Takes away every lock that is held, as if its lease had ended; tells how many there were.
fn end_locks(redis: &RedisServer) -> usize {
    let mut client = redis.client();
    let keys: Vec<String> = client.keys("*lock:*").unwrap();
    let () = client.del(&keys).unwrap();
    keys.len()
}

/// All at once, at each instance in turn; those that heard failure come again.
pub(super) async fn deliver_until_accepted(instances: &[&Shop], messages: &[Message]) {
    let started = Instant::now();
    let mut waiting: Vec<&Message> = messages.iter().collect();
    while !waiting.is_empty() {
        assert!(started.elapsed() < PATIENCE, "never accepted: {waiting:?}");
        let shops = instances.iter().cycle();
        let sending = waiting.iter().zip(shops).map(|(message, shop)| async {
            (!accepted(&message.deliver(shop).await)).then_some(*message)
        });
        waiting = join_all(sending).await.into_iter().flatten().collect();
    }
}

/// The only order of the shop is paid, by one record and one event.
async fn assert_booked_once(shop: &Shop, attempt: &Attempt) {
    let status = shop.status(&attempt.order).await;
    assert_eq!(format!("{status:?}"), "Paid");
    assert_eq!(shop.number(PAID_EVENTS).await, 1);
    let records = "SELECT COUNT(*) FROM payment_callback";
    assert_eq!(shop.number(records).await, 1);
    shop.assert_audit_is_clean().await;
}

/// A customer whose order is being paid.
pub(super) async fn ready_to_pay(shop: &Shop, user: &str) -> (Client, Attempt) {
    let buyer = shop.customer(user);
    let id = buyer.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&buyer, &id).await;
    (buyer, attempt)
}

pub(super) async fn status(client: &Client, attempt: &Attempt) -> String {
    let path = format!("/api/orders/{}", attempt.order);
    let order = client.get(&path).await.expect(200);
    order.body["status"].as_str().unwrap().to_owned()
}

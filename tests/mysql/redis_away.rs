//! Redis is killed, paused or wiped while identical creations run at two instances.

use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::Value;

use super::{assert_one_order, hundred};
use crate::support::entrance::eventually;
use crate::support::faults::Aside;
use crate::support::redis_server::RedisServer;
use crate::support::shop::{Place, manual_clock};
use crate::support::{Reply, Shop, order};

#[actix_web::test]
async fn a_redis_killed_among_a_hundred_creations_costs_no_order_and_is_used_again() {
    for answers in [0, 20] {
        let mut redis = RedisServer::start();
        let (shop, other) = shops(&redis.url(), "1s").await;
        let instances = [&shop, &other];
        let key = shop.customer("ann").token().await;
        let body = order("NORMAL", &[("1", 2)]);

        let mut coming = hundred(&instances, &key, &body);
        let mut replies: Vec<Reply> = coming.by_ref().take(answers).collect().await;
        redis.stop();
        replies.extend(coming.collect::<Vec<_>>().await);

        assert_one_order(&instances, &key, &body, &replies).await;
        for shop in instances {
            eventually(async || readiness(shop).await == "degraded").await;
        }
        redis.restart();
        assert_is_used_again(&instances, &redis).await;
    }
}

#[actix_web::test]
async fn a_redis_killed_in_the_middle_of_a_creation_leaves_the_crowd_to_the_database() {
    let mut redis = RedisServer::start();

    let (shop, other) = crowd_without_redis(&redis.url(), || redis.stop()).await;

    redis.restart();
    assert_is_used_again(&[&shop, &other], &redis).await;
}

#[actix_web::test]
async fn a_redis_paused_in_the_middle_of_a_creation_leaves_the_crowd_to_the_database() {
    let redis = RedisServer::start();

    let (shop, other) = crowd_without_redis(&redis.url(), || redis.pause()).await;

    redis.resume();
    assert_is_used_again(&[&shop, &other], &redis).await;
}

#[actix_web::test]
async fn a_redis_wiped_between_repeats_makes_no_second_order() {
    let redis = RedisServer::start();
    let (shop, other) = shops(&redis.url(), "1m").await;
    let instances = [&shop, &other];
    let key = shop.customer("ann").token().await;
    let body = order("FLASH_SALE", &[("1", 2)]);
    let mut replies: Vec<Reply> = hundred(&instances, &key, &body).collect().await;

    for round in 0..20 {
        let () = redis::cmd("FLUSHALL").query(&mut redis.client()).unwrap();
        let repeat = instances[round % 2]
            .customer("ann")
            .place(&key, &body)
            .await;
        assert_eq!(
            repeat.header("Idempotency-Layer"),
            Some("idempotency_record")
        );
        replies.push(repeat);
    }

    assert_one_order(&instances, &key, &body, &replies).await;
}

/// One creation holds its record and waits for the stock; Redis goes; 98 repeats come.
async fn crowd_without_redis(url: &str, fail: impl FnOnce()) -> (Shop, Shop) {
    let (shop, other) = shops(url, "1s").await;
    let instances = [&shop, &other];
    let aside = Aside::to(&shop.place).await;
    let (ann, key) = (shop.customer("ann"), shop.customer("ann").token().await);
    let body = order("NORMAL", &[("1", 2)]);
    let blockade = aside.block(1).await;
    let meanwhile = async {
        eventually(async || aside.waiting().await == 1).await;
        fail();
        let crowd = hundred(&instances, &key, &body).collect::<Vec<_>>();
        let release = async {
            // One a gate: each instance has its own now.
            eventually(async || aside.waiting().await == 3).await;
            for shop in instances {
                assert_eq!(readiness(shop).await, "degraded");
            }
            blockade.lift().await;
        };
        tokio::join!(crowd, release).0
    };

    let (first, mut replies) = tokio::join!(ann.place(&key, &body), meanwhile);

    replies.push(first);
    assert_one_order(&instances, &key, &body, &replies).await;
    (shop, other)
}

/// Two instances on the run's MariaDB and a Redis of the test's own, each call of which may take so long.
pub(super) async fn shops(url: &str, timeout: &str) -> (Shop, Shop) {
    let (place, clock) = (Arc::new(Place::fresh().await), manual_clock());
    let changes = [("redis.url", url), ("redis.timeout", timeout)];
    let shop = Shop::open_at(Arc::clone(&place), clock.clone(), &changes).await;
    let other = Shop::open_at(place, clock, &changes).await;
    (shop, other)
}

/// What `/readyz` says; an instance without Redis must not be taken out of service.
async fn readiness(shop: &Shop) -> String {
    let reply = shop.anonymous().get("/readyz").await.expect(200);
    assert_eq!(reply.body["database"], "ready");
    reply.body["status"].as_str().unwrap().to_owned()
}

async fn assert_is_used_again(instances: &[&Shop], redis: &RedisServer) {
    for shop in instances {
        eventually(async || readiness(shop).await == "ready").await;
    }
    let () = redis::cmd("FLUSHALL").query(&mut redis.client()).unwrap();
    for (shop, buyer) in instances.iter().zip(["bob", "cid"]) {
        shop.customer(buyer)
            .buy(&order("NORMAL", &[("2", 1)]))
            .await;
    }
    let keys: Value = redis::cmd("DBSIZE")
        .query::<u64>(&mut redis.client())
        .unwrap()
        .into();
    assert_eq!(keys, 2, "a mark of each creation");
}

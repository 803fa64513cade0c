//! Redis may be wiped, paused, cut off or absent: gate and locks go on in this process, and return to it.

use std::time::Duration;

use futures_util::future::join_all;
use order_service::idempotency::{gate::*, lock::*};
use redis::Commands;

use crate::support::{entrance::*, redis_server::RedisServer};

const TIME_OUT: Duration = Duration::from_millis(400);

#[tokio::test]
async fn a_killed_redis_is_left_alone_and_used_again_when_it_is_back() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    entrance.claim("before").await;

    server.stop();
    for number in 0..100 {
        let claim = entrance.claim(&format!("during {number}")).await;
        assert!(matches!(claim, Claim::Acquired(_)), "{claim:?}");
    }

    let metrics = &entrance.metrics;
    assert_eq!(metrics.breaker_open.get(), 1);
    assert!(
        (3..10).contains(&metrics.store_errors.get()),
        "three attempts, and no time-outs"
    );
    assert_eq!(metrics.store_fallbacks.get(), 100);

    server.restart();
    eventually(async || is_used(&entrance, &server).await).await;
    assert_eq!(metrics.breaker_open.get(), 0);
}

#[tokio::test]
async fn a_silent_redis_costs_three_time_outs() {
    let server = RedisServer::start();
    let entrance = Entrance::redis_within(TIME_OUT, &server);
    entrance.claim("before").await;

    server.pause();
    for number in 0..3 {
        entrance.claim(&format!("slow {number}")).await;
    }
    for number in 0..100 {
        entrance.claim(&format!("fast {number}")).await;
    }

    let errors = entrance.metrics.store_errors.get();
    server.resume();
    assert!(
        (3..10).contains(&errors),
        "{errors} attempts for a hundred claims"
    );
    eventually(async || is_used(&entrance, &server).await).await;
}

#[tokio::test]
async fn the_crowd_is_stopped_in_process_while_redis_is_away() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    server.stop();
    let crowd = (0..100).map(|_| entrance.claim("key"));

    let claims = join_all(crowd).await;

    assert_eq!(let_in(&claims), 1);
}

#[tokio::test]
async fn a_claim_that_was_taken_in_process_counts_when_redis_is_back() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    server.stop();
    let guard = entrance.acquired("key").await;
    server.restart();
    eventually(async || is_used(&entrance, &server).await).await;

    let while_it_runs = entrance.claim("key").await;
    guard.complete(LONG).await;
    let afterwards = entrance.claim("key").await;

    assert!(
        matches!(while_it_runs, Claim::InProgress),
        "{while_it_runs:?}"
    );
    assert!(matches!(afterwards, Claim::Done), "{afterwards:?}");
}

#[tokio::test]
async fn a_claim_that_was_taken_in_redis_is_completed_there() {
    let server = RedisServer::start();
    let (entrance, other_instance) = (
        Entrance::redis_within(TIME_OUT, &server),
        Entrance::redis(&server),
    );
    let guard = entrance.acquired("key").await;
    server.pause();
    eventually(async || {
        entrance.claim("another").await;
        entrance.metrics.breaker_open.get() == 1
    })
    .await;
    server.resume();
    eventually(async || is_used(&entrance, &server).await).await;

    guard.complete(LONG).await;

    let elsewhere = other_instance.claim("key").await;
    assert!(matches!(elsewhere, Claim::Done), "{elsewhere:?}");
}

#[tokio::test]
async fn a_lock_that_was_taken_away_is_lost() {
    let server = RedisServer::start();
    let entrance = Entrance::redis(&server).with_lease(SHORT);
    let meddlers: [fn(&mut redis::Connection, &str); 2] = [
        |client, key| client.del(key).unwrap(),
        |client, key| client.set(key, "another owner").unwrap(),
    ];
    for (meddle, losses) in meddlers.iter().zip(1..) {
        let work = async {
            let mut client = server.client();
            let keys: Vec<String> = client.keys(format!("{PREFIX}lock:*")).unwrap();
            meddle(&mut client, &keys[0]);
            eventually(async || entrance.metrics.lock_lost.get() == losses).await;
        };

        entrance.locks.hold("order:1", work).await.unwrap();
    }

    assert_eq!(entrance.lost(), ["order:1", "order:1"]);
    let key: Vec<String> = server.client().keys(format!("{PREFIX}lock:*")).unwrap();
    let owner: String = server.client().get(&key[0]).unwrap();
    assert_eq!(owner, "another owner", "whose lock was left alone");
}

#[tokio::test]
async fn a_lock_is_not_lost_by_an_outage_shorter_than_its_lease() {
    let server = RedisServer::start();
    let entrance = Entrance::redis_within(TIME_OUT, &server).with_lease(10 * TIME_OUT);
    let metrics = &entrance.metrics;
    let work = async {
        server.pause();
        eventually(async || metrics.store_errors.get() == 1).await;
        server.resume();
        eventually(async || metrics.lock_renewals.get() == 1).await;
    };

    entrance.locks.hold("order:1", work).await.unwrap();

    assert_eq!(metrics.lock_lost.get(), 0);
    eventually(async || is_used(&entrance, &server).await).await;
}

#[tokio::test]
async fn a_lock_is_lost_by_an_outage_longer_than_its_lease() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server).with_lease(SHORT);
    let work = async {
        server.stop();
        eventually(async || entrance.metrics.lock_lost.get() == 1).await;
        "the work goes on"
    };

    let held = entrance.locks.hold("order:1", work).await;

    assert_eq!(held, Ok("the work goes on"));
    assert!(
        entrance.metrics.store_errors.get() >= 1,
        "it was tried until then"
    );
}

#[tokio::test]
async fn a_lock_is_served_in_process_while_redis_is_away() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    server.stop();
    let other = entrance.clone();
    let another = async move { other.locks.hold_within(AT_ONCE, "order:1", async {}).await };
    let work = async { tokio::spawn(another).await.unwrap() };

    let held = entrance.locks.hold("order:1", work).await;

    assert_eq!(
        held,
        Ok(Err(HeldByAnother)),
        "which a store that is down never says"
    );
}

/// Whether a claim of now goes to Redis.
async fn is_used(entrance: &Entrance, server: &RedisServer) -> bool {
    let count = || {
        redis::cmd("DBSIZE")
            .query::<u64>(&mut server.client())
            .unwrap()
    };
    let before = count();
    let _claim = entrance.claim(&format!("fresh {before}")).await;
    count() > before
}

//! The store in Redis: what it costs, what it shows and how it is reached.

use std::sync::Arc;

use futures_util::future::join_all;
use order_service::idempotency::fallback_store::FallbackStore;
use order_service::{idempotency::store::*, metrics::Metrics};
use redis::Commands;

use crate::support::{entrance::*, redis_server::RedisServer};

#[tokio::test]
async fn of_a_hundred_claims_at_two_instances_one_is_let_in() {
    let server = RedisServer::start();
    let instances = [Entrance::redis(&server), Entrance::redis(&server)];
    let crowd = (0..100).map(|number| instances[number % 2].claim("key"));

    let claims = join_all(crowd).await;

    assert_eq!(let_in(&claims), 1);
}

#[tokio::test]
async fn a_claim_is_one_command() {
    let server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    let _first = entrance
        .claim("which connects and teaches the script")
        .await;
    let () = redis::cmd("CONFIG")
        .arg("RESETSTAT")
        .query(&mut server.client())
        .unwrap();

    let _claim = entrance.claim("key").await;

    let info: String = redis::cmd("INFO")
        .arg("commandstats")
        .query(&mut server.client())
        .unwrap();
    for once in ["evalsha", "get", "set"] {
        assert!(
            info.contains(&format!("cmdstat_{once}:calls=1,")),
            "{once}, by the script: {info}"
        );
    }
    assert!(!info.contains("cmdstat_ping"), "{info}");
}

#[tokio::test]
async fn keys_have_the_prefix_a_lifetime_and_no_text_of_a_client() {
    let server = RedisServer::start();
    let entrance = Entrance::redis(&server);
    let _claim = entrance.claim("secret").await;
    let look = async {
        let mut client = server.client();
        let keys: Vec<String> = client.keys("*").unwrap();
        keys.into_iter()
            .map(|key| (client.pttl(&key).unwrap(), key))
            .collect::<Vec<(i64, _)>>()
    };

    let keys = entrance.locks.hold("secret", look).await.unwrap();

    assert_eq!(keys.len(), 2);
    for (lifetime, key) in keys {
        assert!(key.starts_with(PREFIX) && !key.contains("secret"), "{key}");
        assert!(lifetime > 0, "{key}");
    }
}

#[tokio::test]
async fn reachability_is_told() {
    let mut server = RedisServer::start();
    let entrance = Entrance::redis(&server);

    assert!(entrance.store.is_reachable().await);
    server.stop();
    assert!(!entrance.store.is_reachable().await);
    server.restart();
    eventually(async || entrance.store.is_reachable().await).await;
}

#[test]
fn a_url_that_cannot_be_used_is_refused_without_repeating_its_password() {
    let settings = RedisSettings {
        url: "radish://:hunter2@localhost".to_owned(),
        key_prefix: PREFIX.to_owned(),
        timeout: LONG,
    };

    let refused = FallbackStore::redis(&settings, Arc::new(Metrics::new().unwrap())).unwrap_err();

    assert!(refused.contains("redis.url"), "{refused}");
    assert!(!refused.contains("hunter2"), "{refused}");
}

//! One of two instances is stopped in the middle of a creation for longer than every lease, and goes on afterwards.

use std::collections::HashSet;

use futures_util::future::join_all;
use redis::Commands;

use crate::support::binary::{Binary, run};
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Buyer, node_of};
use crate::support::order;
use crate::support::shop::Place;

const LEASES: [(&str, &str); 3] = [
    ("ORDER__GATE__LEASE", "600ms"),
    ("ORDER__LOCK__LEASE", "600ms"),
    ("ORDER__IDS__LEASE", "600ms"),
];

#[actix_web::test]
async fn what_a_stopped_instance_began_is_not_done_by_the_other_and_is_done_once() {
    let place = Place::fresh().await;
    let (one, other) = (
        Binary::start(&place, &LEASES),
        Binary::start(&place, &LEASES),
    );
    let aside = Aside::to(&place).await;
    let ann = Buyer::new(one.sign_in("ann", "customer").await).await;
    let ann_elsewhere = ann.at(&other.base);
    let node = node_of(&ann.key);
    let lease = format!("node:{node}");
    let body = order("FLASH_SALE", &[("1", 2)]);
    let blockade = aside.block(1).await;
    let meanwhile = async {
        eventually(async || is_stopped_in_its_middle(&one, &aside).await).await;
        eventually(async || keys_in_redis(&place) == 0 && !aside.runs(&lease).await).await;
        let refused = ann_elsewhere.place(&body).await;
        let taken_over = ann_elsewhere.client.token().await;
        blockade.lift().await;
        let next_tokens = join_all((0..20).map(|_| ann.client.token()));
        let go_on = async { one.signal("CONT") };
        let (next_tokens, ()) = tokio::join!(next_tokens, go_on);
        (refused, taken_over, next_tokens)
    };

    let (_, (refused, taken_over, next_tokens)) = tokio::join!(ann.place(&body), meanwhile);

    assert_eq!(
        (refused.status, refused.code()),
        (409, "request_in_progress")
    );
    assert_eq!(refused.header("Retry-After"), Some("1"));
    assert_eq!(node_of(&taken_over), node, "its number was free");
    assert!(next_tokens.iter().all(|token| node_of(token) != node));
    let mut ids = HashSet::new();
    for caller in [&ann, &ann_elsewhere, &ann, &ann_elsewhere] {
        let replay = caller.insist(&body).await;
        assert!(replay.is_replay());
        ids.insert(replay.id());
    }
    assert_eq!(ids.len(), 1);
    for table in ["orders", "order_item", "order_event", "idempotency_record"] {
        let count = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(aside.number(&count).await, 1, "{table}");
    }
    assert_eq!(run(&place, &[], &["audit"]).stdout, b"audit: clean\n");
}

/// Stops an instance while its one creation waits for the stock, so that its transaction stays open. It goes on if it had
/// just given up waiting.
async fn is_stopped_in_its_middle(instance: &Binary, aside: &Aside) -> bool {
    if aside.waiting().await == 0 {
        return false;
    }
    instance.signal("STOP");
    let waits = aside.waiting().await == 1;
    if !waits {
        instance.signal("CONT");
    }
    waits
}

/// Claims and locks of this place.
fn keys_in_redis(place: &Place) -> usize {
    let setting = |name: &str| {
        let mut settings = place.overrides.iter();
        settings.find(|(key, _)| key == name).unwrap().1.clone()
    };
    let client = redis::Client::open(setting("redis.url")).unwrap();
    let pattern = format!("{}*", setting("redis.key_prefix"));
    let keys: Vec<String> = client.get_connection().unwrap().keys(pattern).unwrap();
    keys.len()
}

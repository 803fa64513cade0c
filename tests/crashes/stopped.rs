//! SIGSTOP in the middle of a creation for longer than every lease, then SIGCONT.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::support::binary::Binary;
use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Buyer, asks_to_repeat, node_of};
use crate::support::shop::Place;
use crate::support::{Reply, order};

const LEASES: [(&str, &str); 3] = [
    ("ORDER__GATE__LEASE", "600ms"),
    ("ORDER__LOCK__LEASE", "600ms"),
    ("ORDER__IDS__LEASE", "600ms"),
];
const LONGEST: Duration = Duration::from_millis(600);

#[actix_web::test]
async fn stopped_for_longer_than_every_lease_it_makes_one_order_and_mints_no_number_of_anothers() {
    let place = Place::fresh().await;
    let server = Binary::start(&place, &LEASES);
    let aside = Aside::to(&place).await;
    let ann = Buyer::new(server.sign_in("ann", "customer").await).await;
    let lease = format!("node:{}", node_of(&ann.key));
    let body = order("FLASH_SALE", &[("1", 2)]);
    let blockade = aside.block(1).await;
    let meanwhile = async {
        eventually(async || server.metric("database_transactions").await > 0.0).await;
        server.signal("STOP");
        let stopped = Instant::now();
        eventually(async || stopped.elapsed() > LONGEST && !aside.runs(&lease).await).await;
        let takeover = format!(
            "UPDATE lease SET holder = 'another', epoch = epoch + 1, until = until + 600000, \
             reserved = reserved + 600000 WHERE name = '{lease}'"
        );
        blockade.execute(&takeover).await;
        blockade.lift().await;
        let repeats = join_all((0..20).map(|_| ann.place(&body)));
        let go_on = async { server.signal("CONT") };
        tokio::join!(repeats, ann.client.token(), go_on)
    };

    let (first, (mut replies, next_token, ())) = tokio::join!(ann.place(&body), meanwhile);

    replies.push(first);
    assert_one_order(&replies);
    assert_ne!(node_of(&next_token), node_of(&ann.key));
    let replay = ann.insist(&body).await;
    assert!(replay.is_replay());
    assert_eq!(aside.number("SELECT COUNT(*) FROM orders").await, 1);
    assert_eq!(aside.number("SELECT COUNT(*) FROM order_event").await, 1);
    let quantity = "SELECT quantity FROM stock WHERE product_id = 1";
    assert_eq!(aside.number(quantity).await, 998);
    assert!(aside.runs(&lease).await, "what another took stays his");
}

/// One created it; the others got the replay or were asked to come again.
#[track_caller]
fn assert_one_order(replies: &[Reply]) {
    let created: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    let firsts = created.iter().filter(|reply| !reply.is_replay()).count();
    assert!(firsts <= 1, "{replies:?}");
    assert!(created.iter().all(|reply| reply.id() == created[0].id()));
    let mut others = replies.iter().filter(|reply| reply.status != 201);
    assert!(others.all(asks_to_repeat), "{replies:?}");
}

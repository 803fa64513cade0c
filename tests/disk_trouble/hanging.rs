//! A disk that hangs: nobody waits longer than his deadline, and what was done all the same is found.

use std::time::{Duration, Instant};

use super::{Ground, assert_all_are_asked_to_repeat, assert_each_has_his_order, place_all};
use crate::support::disk_faults::Fault;
use crate::support::faults::insist_all;
use crate::support::order;

/// Deadlines that a test can wait for.
const SHORT: [(&str, &str); 2] = [
    ("ORDER__SERVER__DEADLINE", "1s"),
    ("ORDER__SERVER__READ_DEADLINE", "1s"),
];
/// Far more than deadline and grace, far less than what a hung request takes.
const GENEROUS: Duration = Duration::from_secs(20);

#[actix_web::test]
async fn while_writes_hang_requests_are_turned_away_in_time_and_afterwards_all_is_well() {
    let Some(ground) = Ground::open(&SHORT).await else {
        return;
    };
    let buyers = ground.buyers(20).await;
    ground.disk.meets(Fault::Hanging);
    let asked = Instant::now();
    let turned_away = place_all(&buyers).await;
    let waited = asked.elapsed();
    let shelf = buyers[0].client.get("/api/products").await;
    assert!(ground.disk.met() > 0, "no call met the fault");

    ground.disk.recovers();
    let served = insist_all(&buyers, &order("NORMAL", &[("1", 1)])).await;

    assert_all_are_asked_to_repeat(&turned_away);
    assert!(waited < GENEROUS, "{waited:?}");
    assert_eq!(shelf.status, 200, "{}", shelf.body);
    assert_each_has_his_order(&ground, &buyers, &served).await;
    ground.readyz().await.expect(200);
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_commit_that_was_done_after_its_client_gave_up_is_found_by_the_same_key() {
    let Some(ground) = Ground::open(&SHORT).await else {
        return;
    };
    let buyers = ground.buyers(1).await;
    ground.disk.meets(Fault::HangingSync);
    let turned_away = place_all(&buyers).await;
    assert!(ground.disk.met() > 0, "no call met the fault");

    ground.disk.recovers();
    let served = insist_all(&buyers, &order("NORMAL", &[("1", 1)])).await;

    assert_all_are_asked_to_repeat(&turned_away);
    assert_each_has_his_order(&ground, &buyers, &served).await;
    assert_eq!(ground.number("SELECT COUNT(*) FROM order_event").await, 1);
    ground.readyz().await.expect(200);
    ground.assert_audit_is_clean();
}

/// Reads go on, so only the writes can tell that the disk is in trouble.
#[actix_web::test]
async fn an_instance_whose_writes_hang_is_not_ready() {
    let Some(ground) = Ground::open(&SHORT).await else {
        return;
    };
    let buyers = ground.buyers(3).await;
    ground.disk.meets(Fault::Hanging);
    assert_all_are_asked_to_repeat(&place_all(&buyers).await);

    let hung = ground.readyz().await;
    ground.disk.recovers();
    insist_all(&buyers, &order("NORMAL", &[("1", 1)])).await;

    assert_eq!(hung.status, 503, "{}", hung.body);
    ground.readyz().await.expect(200);
}

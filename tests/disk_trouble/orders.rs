//! Creations while the disk is full, broken or only for reading.

use futures_util::future::join_all;

use super::{Ground, assert_all_are_asked_to_repeat, assert_each_has_his_order, place_all};
use crate::support::disk_faults::Fault;

const BUYERS: usize = 40;

#[actix_web::test]
async fn on_a_full_disk_no_order_is_promised_and_the_same_keys_make_each_when_there_is_room() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    forty_come_before_and_after(&ground, Fault::Full, "full").await;

    ground.assert_told_once("full", "full").await;
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_disk_that_does_not_sync_loses_no_order_and_doubles_none() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    forty_come_before_and_after(&ground, Fault::Unsynced, "io_error").await;

    ground.assert_told_once("io_error", "disk I/O error").await;
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_disk_that_does_not_write_loses_no_order_and_doubles_none() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    forty_come_before_and_after(&ground, Fault::Unwritten, "io_error").await;

    ground.assert_told_once("io_error", "disk I/O error").await;
    ground.assert_audit_is_clean();
}

/// As a kernel does it after an error of the disk: what is open cannot be written, and is opened only for reading.
#[actix_web::test]
async fn a_disk_that_is_only_for_reading_is_told_as_that_until_it_takes_writes_again() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    forty_come_before_and_after(&ground, Fault::ReadOnly, "read_only").await;

    let told = ground.server.told("the database is in trouble");
    assert!(told.iter().any(|line| line.contains("reason=read_only")));
    assert!(told.len() <= 2, "{told:#?}");
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_full_disk_lets_customers_look() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    let buyers = ground.buyers(2).await;
    let placed = place_all(&buyers[..1]).await.remove(0).expect(201);
    ground.disk.meets(Fault::Full);
    assert_all_are_asked_to_repeat(&place_all(&buyers[1..]).await);

    let client = &buyers[0].client;
    let path = format!("/api/orders/{}", placed.id());
    let (own, shelf) = tokio::join!(client.get(&path), client.get("/api/products"));

    assert_eq!((own.status, shelf.status), (200, 200));
    assert_eq!(
        ground.readyz().await.expect(503).body["reasons"]["database"],
        "full"
    );
}

/// `SQLite` shares one index among all connections of a process: one that was opened only for reading keeps it so.
#[actix_web::test]
async fn who_looked_while_the_disk_was_only_for_reading_does_not_keep_it_so() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    let buyers = ground.buyers(1).await;
    ground.disk.meets(Fault::ReadOnly);
    for _ in 0..5 {
        assert_all_are_asked_to_repeat(&place_all(&buyers).await);
        buyers[0].client.get("/api/orders").await;
    }
    let looks = (0..BUYERS).map(|_| buyers[0].client.get("/api/orders"));
    let looked = join_all(looks).await;

    ground.disk.recovers();
    let served = place_all(&buyers).await;

    let seen = looked.iter().filter(|reply| reply.status == 200).count();
    assert!(seen > 0, "{looked:?}");
    assert_each_has_his_order(&ground, &buyers, &served).await;
}

/// The crowd comes while the disk meets `fault`, and again with the same keys when it is well.
async fn forty_come_before_and_after(ground: &Ground, fault: Fault, reason: &str) {
    let buyers = ground.buyers(BUYERS).await;
    ground.readyz().await.expect(200);
    ground.disk.meets(fault);
    let turned_away = place_all(&buyers).await;
    let down = ground.readyz().await;
    let orders = ground.number("SELECT COUNT(*) FROM orders").await;
    let gauge = format!("database_trouble{{kind=\"{reason}\"}}");
    let trouble = ground.server.metric(&gauge).await;
    assert!(ground.disk.met() > 0, "no call met the fault");

    ground.disk.recovers();
    let served = place_all(&buyers).await;

    assert_all_are_asked_to_repeat(&turned_away);
    assert_eq!(down.status, 503, "{}", down.body);
    assert_eq!(down.body["reasons"]["database"], reason);
    assert_eq!(orders, 0, "an order that nobody was promised");
    assert!((trouble - 1.0).abs() < f64::EPSILON, "{gauge} {trouble}");
    assert_each_has_his_order(ground, &buyers, &served).await;
    ground.readyz().await.expect(200);
    assert!(ground.server.metric(&gauge).await.abs() < f64::EPSILON);
}

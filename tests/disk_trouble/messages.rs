//! What gateways tell, what the outbox hands over and what jobs do while the disk is full.

use futures_util::future::join_all;
use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};

use super::{Ground, place_all};
use crate::support::disk_faults::Fault;
use crate::support::entrance::eventually;
use crate::support::faults::{Buyer, id_of};
use crate::support::gateway::{Attempt, Message, accepted, secret};
use crate::support::shop::unsettled;

const BUYERS: usize = 10;
const LOOPS: [(&str, &str); 2] = [
    ("ORDER__JOBS__ENABLED", "true"),
    ("ORDER__EVENTS__POLL", "20ms"),
];

#[actix_web::test]
async fn the_gateway_hears_no_success_for_what_a_full_disk_did_not_take() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };
    let buyers = ground.buyers(BUYERS).await;
    let messages = paid_messages(&buyers).await;
    ground.disk.meets(Fault::Full);
    let refused = deliver_all(&ground, &messages).await;
    let again = deliver_all(&ground, &messages).await;
    let callbacks = "SELECT COUNT(*) FROM payment_callback";
    let stored = ground.number(callbacks).await;
    assert!(ground.disk.met() > 0, "no call met the fault");

    ground.disk.recovers();
    let taken = deliver_all(&ground, &messages).await;
    let repeated = deliver_all(&ground, &messages).await;

    assert_eq!((refused, again, stored), (0, 0, 0));
    assert_eq!((taken, repeated), (BUYERS, BUYERS));
    let count = i64::try_from(BUYERS).unwrap();
    assert_eq!(ground.number(callbacks).await, count);
    let paid = "SELECT COUNT(*) FROM orders WHERE status = 'PAID'";
    assert_eq!(ground.number(paid).await, count);
    let told = "SELECT COUNT(*) FROM order_event WHERE type = 'OrderPaid'";
    assert_eq!(ground.number(told).await, count);
    ground.assert_told_once("full", "full").await;
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn what_waits_in_the_outbox_outlasts_a_full_disk_and_has_its_effect_once() {
    let Some(ground) = Ground::open(&LOOPS).await else {
        return;
    };
    let buyers = ground.buyers(BUYERS).await;
    hold_back(&ground, &buyers).await;
    let messages = paid_messages(&buyers).await;
    assert_eq!(deliver_all(&ground, &messages).await, BUYERS);
    let waiting = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";
    let before = ground.number(waiting).await;
    ground.disk.meets(Fault::Full);
    let freed = "DELETE FROM lease WHERE name LIKE 'relay:%'";
    ground.aside.execute(freed).await;
    ground.disk.is_met().await;
    let meanwhile = ground.number(waiting).await;
    let effects = "SELECT COUNT(*) FROM message_consume_log";
    let early = ground.number(effects).await;

    ground.disk.recovers();
    eventually(async || ground.number(waiting).await == 0).await;
    eventually(async || ground.number(&unsettled()).await == 0).await;

    assert_eq!((before, meanwhile, early), (before, before, 0));
    let notified = ground.number("SELECT COUNT(*) FROM notification").await;
    let count = i64::try_from(BUYERS).unwrap();
    assert_eq!(notified, 2 * count, "placed and paid, once each");
    let credited = "SELECT COUNT(*) FROM points_ledger";
    assert_eq!(ground.number(credited).await, count);
    let failed = "SELECT COUNT(*) FROM message_failure";
    assert_eq!(ground.number(failed).await, 0, "a full disk is no failure");
    ground.assert_told_once("full", "full").await;
    ground.assert_audit_is_clean();
}

#[actix_web::test]
async fn a_job_that_meets_a_full_disk_does_its_work_once_when_there_is_room() {
    let closing = [
        LOOPS[0],
        LOOPS[1],
        ("ORDER__ORDERS__PAYMENT_WINDOW", "100ms"),
        ("ORDER__JOBS__SCHEDULES__CLOSE_UNPAID", "* * * * * *"),
    ];
    let Some(ground) = Ground::open(&closing).await else {
        return;
    };
    let buyers = ground.buyers(BUYERS).await;
    let placed = place_all(&buyers).await;
    ground.disk.meets(Fault::Full);
    let begun = "SELECT COUNT(*) FROM job_run WHERE job = 'close_unpaid'";
    let runs = ground.number(begun).await;
    ground.disk.is_met().await;

    ground.disk.recovers();
    let closed = "SELECT COUNT(*) FROM orders WHERE status = 'CLOSED'";
    let count = i64::try_from(BUYERS).unwrap();
    eventually(async || ground.number(closed).await == count).await;
    eventually(async || ground.number(begun).await > runs).await;

    assert!(placed.iter().all(|reply| reply.status == 201));
    let restored = "SELECT COUNT(*) FROM stock_ledger WHERE reason = 'RESTORE'";
    assert_eq!(ground.number(restored).await, count);
    let left = "SELECT quantity FROM stock WHERE product_id = 1";
    assert_eq!(ground.number(left).await, 1_000);
    ground.assert_audit_is_clean();
}

/// A claim of another relay keeps the events of their orders in the outbox.
async fn hold_back(ground: &Ground, buyers: &[Buyer]) {
    let until = Clock::System.now().timestamp_millis() + 1_800_000;
    for buyer in buyers {
        let order = id_of(&buyer.key);
        let claim = format!(
            "INSERT INTO lease (name, holder, until, epoch, reserved) \
             VALUES ('relay:{order}', 'another', {until}, 1, 0)"
        );
        ground.aside.execute(&claim).await;
    }
}

/// Everybody orders and starts to pay; what the gateway will tell of it.
async fn paid_messages(buyers: &[Buyer]) -> Vec<Message> {
    let placed = place_all(buyers).await;
    let paying = buyers.iter().zip(placed).map(async |(buyer, reply)| {
        let attempt = Attempt::start(&buyer.client, &reply.expect(201).id()).await;
        attempt.paid(&format!("evt-{}", attempt.id))
    });
    join_all(paying).await
}

/// All at once; how many heard success.
async fn deliver_all(ground: &Ground, messages: &[Message]) -> usize {
    let (door, now) = (ground.server.anonymous(), Clock::System.now());
    let secret = secret(&Settings::of(Profile::Test, &[]).unwrap());
    let delivering = messages
        .iter()
        .map(|message| message.try_deliver(&door, now, &secret));
    let replies = join_all(delivering).await;
    replies
        .iter()
        .filter(|reply| accepted(reply.as_ref().unwrap()))
        .count()
}

//! Each single call to the system that stores an order and its payment fails once: what heard success is there, once.

use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};

use super::Ground;
use crate::support::disk_faults::Fault;
use crate::support::entrance::eventually;
use crate::support::faults::{Buyer, asks_to_repeat};
use crate::support::gateway::{Attempt, accepted, secret};
use crate::support::order;

/// More calls than an order and its payment make.
const MOST: u64 = 400;

#[actix_web::test]
async fn whichever_write_finds_no_room_the_order_and_its_payment_are_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Full, 5).await;
}

#[actix_web::test]
async fn whichever_write_fails_the_order_and_its_payment_are_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Unwritten, 7).await;
}

#[actix_web::test]
async fn whichever_sync_fails_the_order_and_its_payment_are_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Unsynced, 1).await;
}

/// Another buyer for each `step`th call, until his order and payment need fewer calls than that.
async fn each_call_fails_once(ground: &Ground, fault: Fault, step: usize) {
    let mut stored = 0;
    for call in (0..MOST).step_by(step) {
        let name = format!("buyer-{call}");
        let buyer = Buyer::new(ground.server.sign_in(&name, "customer").await).await;
        ground.disk.meets_once(fault, call);
        buys_and_pays(ground, &buyer).await;
        stored += 1;
        if ground.disk.met() == 0 {
            break;
        }
    }

    ground.disk.recovers();
    assert!(stored > 2, "hardly a call met the fault");
    let paid = "SELECT COUNT(*) FROM orders WHERE status = 'PAID'";
    assert_eq!(ground.number(paid).await, stored);
    assert_eq!(ground.number("SELECT COUNT(*) FROM orders").await, stored);
    let callbacks = "SELECT COUNT(*) FROM payment_callback";
    assert_eq!(ground.number(callbacks).await, stored);
    eventually(async || ground.readyz().await.status == 200).await;
    ground.assert_audit_is_clean();
}

/// Repeats until each step succeeds; what a success tells of has to be there at once.
async fn buys_and_pays(ground: &Ground, buyer: &Buyer) {
    let body = order("NORMAL", &[("1", 1)]);
    let id = buyer.insist(&body).await.id();
    let here = format!("SELECT COUNT(*) FROM orders WHERE id = {id}");
    assert_eq!(ground.number(&here).await, 1, "promised and not there");
    let path = format!("/api/orders/{id}/payments");
    let wish = serde_json::json!({ "gateway": "sandbox" });
    eventually(async || {
        let reply = buyer.client.post(&path, &wish).await;
        let is_started = [200, 201].contains(&reply.status);
        // What the gateway did is not known when its own memory, here the same disk, fails.
        let is_unknown = reply.code() == "gateway_unknown";
        assert!(
            is_started || is_unknown || asks_to_repeat(&reply),
            "{reply:?}"
        );
        is_started
    })
    .await;
    let attempt = Attempt::start(&buyer.client, &id).await;
    let message = attempt.paid(&format!("evt-{id}"));
    let (door, secret) = (ground.server.anonymous(), secret(&settings()));
    eventually(async || {
        let now = Clock::System.now();
        accepted(&message.try_deliver(&door, now, &secret).await.unwrap())
    })
    .await;
    let paid = format!("SELECT COUNT(*) FROM orders WHERE id = {id} AND status = 'PAID'");
    assert_eq!(ground.number(&paid).await, 1, "told as taken and not there");
}

fn settings() -> Settings {
    Settings::of(Profile::Test, &[]).unwrap()
}

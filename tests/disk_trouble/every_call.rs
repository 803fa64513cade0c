//! Each single call to the system that stores what happens to an order fails once: what heard success is there, once.

use order_service::clock::Clock;
use order_service::settings::{Profile, Settings};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::Ground;
use crate::support::client::{address, try_send};
use crate::support::disk_faults::Fault;
use crate::support::entrance::eventually;
use crate::support::faults::{Buyer, asks_to_repeat};
use crate::support::gateway::{Attempt, accepted, secret};
use crate::support::{Client, order};

/// More calls than an order makes from its creation to its receipt.
const MOST: u64 = 3_000;
/// What each buyer leaves one row of.
const ONCE: [&str; 10] = [
    "orders",
    "orders WHERE status = 'FINISHED'",
    "payment",
    "payment_callback",
    "refund",
    "order_event WHERE type = 'OrderPlaced'",
    "order_event WHERE type = 'OrderPaid'",
    "order_event WHERE type = 'AddressChanged'",
    "order_event WHERE type = 'OrderShipped'",
    "stock_ledger WHERE reason = 'DEDUCT'",
];

#[actix_web::test]
async fn whichever_write_finds_no_room_each_step_of_an_order_is_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Full, 17).await;
}

#[actix_web::test]
async fn whichever_write_fails_each_step_of_an_order_is_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Unwritten, 19).await;
}

#[actix_web::test]
async fn whichever_sync_fails_each_step_of_an_order_is_stored_once() {
    let Some(ground) = Ground::open(&[]).await else {
        return;
    };

    each_call_fails_once(&ground, Fault::Unsynced, 1).await;
}

/// Another buyer for each `step`th call, until all that he does needs fewer calls than that.
async fn each_call_fails_once(ground: &Ground, fault: Fault, step: usize) {
    let operator = ground.server.sign_in("olga", "operator").await;
    let mut lives = 0;
    for call in (0..MOST).step_by(step) {
        let name = format!("buyer-{call}");
        let buyer = Buyer::new(ground.server.sign_in(&name, "customer").await).await;
        ground.disk.meets_once(fault, call);
        live_through(ground, &buyer, &operator).await;
        lives += 1;
        if ground.disk.met() == 0 {
            break;
        }
    }

    ground.disk.recovers();
    assert!(lives > 5, "hardly a call met the fault");
    for what in ONCE {
        let count = ground.number(&format!("SELECT COUNT(*) FROM {what}")).await;
        assert_eq!(count, lives, "{what}");
    }
    eventually(async || ground.readyz().await.status == 200).await;
    ground.assert_audit_is_clean();
}

/// Repeats each step until it succeeds; what a success tells of has to be there at once.
async fn live_through(ground: &Ground, buyer: &Buyer, operator: &Client) {
    let id = buyer.insist(&order("NORMAL", &[("1", 1)])).await.id();
    is_there(ground, "orders", &format!("id = {id}")).await;
    let path = format!("/api/orders/{id}");
    pay(ground, buyer, &id).await;
    is_there(
        ground,
        "orders",
        &format!("id = {id} AND paid_at IS NOT NULL"),
    )
    .await;

    let wish = json!({ "amount": 1, "reason": "a scratch" });
    let refund = operator.request(Method::POST, &format!("{path}/refunds"));
    until_said(
        refund
            .header("Idempotency-Key", format!("back-{id}"))
            .json(&wish),
    )
    .await;
    is_there(
        ground,
        "refund",
        &format!("payment_id IN (SELECT id FROM payment WHERE order_id = {id})"),
    )
    .await;
    let elsewhere = buyer
        .client
        .request(Method::PUT, &format!("{path}/address"));
    until_said(elsewhere.json(&address("Elsewhere 2"))).await;
    is_there(
        ground,
        "order_event",
        &format!("order_id = {id} AND type = 'AddressChanged'"),
    )
    .await;
    let shipment = operator.request(Method::PUT, &format!("{path}/shipment"));
    until_said(shipment.json(&json!({ "carrier": "SF", "tracking_no": "1" }))).await;
    is_there(
        ground,
        "orders",
        &format!("id = {id} AND shipped_at IS NOT NULL"),
    )
    .await;
    let receipt = buyer
        .client
        .request(Method::PUT, &format!("{path}/receipt"));
    until_said(receipt.json(&json!({}))).await;
    is_there(
        ground,
        "orders",
        &format!("id = {id} AND finished_at IS NOT NULL"),
    )
    .await;
}

async fn pay(ground: &Ground, buyer: &Buyer, order: &str) {
    let path = format!("/api/orders/{order}/payments");
    let wish = buyer.client.request(Method::POST, &path);
    until_said(wish.json(&json!({ "gateway": "sandbox" }))).await;
    let attempt = Attempt::start(&buyer.client, order).await;
    let message = attempt.paid(&format!("evt-{order}"));
    let settings = Settings::of(Profile::Test, &[]).unwrap();
    let (door, secret) = (ground.server.anonymous(), secret(&settings));
    eventually(async || {
        let now = Clock::System.now();
        accepted(&message.try_deliver(&door, now, &secret).await.unwrap())
    })
    .await;
}

async fn until_said(request: RequestBuilder) {
    eventually(async || {
        let reply = try_send(request.try_clone().unwrap()).await.unwrap();
        let is_said = [200, 201].contains(&reply.status);
        // What the gateway did is not known when its own memory, here the same disk, fails.
        let is_unknown = reply.code() == "gateway_unknown";
        assert!(is_said || is_unknown || asks_to_repeat(&reply), "{reply:?}");
        is_said
    })
    .await;
}

async fn is_there(ground: &Ground, table: &str, which: &str) {
    let sql = format!("SELECT COUNT(*) FROM {table} WHERE {which}");
    assert_eq!(ground.number(&sql).await, 1, "told and not there: {sql}");
}

//! `POST /api/orders/{id}/refunds`: never more than was paid, each once, nothing lost on the way.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::gateway::{Attempt, accepted, paid_order, refund};
use crate::support::{Client, Shop, order};

#[actix_web::test]
async fn ten_refunds_of_more_than_half_at_once_are_one() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    let operator = shop.operator();

    let keys: Vec<String> = (0..10).map(|n| format!("refund-{n}")).collect();
    let replies = join_all(keys.iter().map(|key| refund(&operator, &paid, key, 6_000))).await;

    let made = replies.iter().filter(|reply| reply.status == 201).count();
    let refused = replies
        .iter()
        .filter(|reply| reply.code() == "refund_exceeds_payment")
        .count();
    assert_eq!((made, refused), (1, 9));
    shop.run_jobs().await;
    assert_eq!(read(&operator, &paid).await["refunded_amount"], 6_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn the_same_refund_a_hundred_times_is_one() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    let operator = shop.operator();

    let replies = join_all((0..100).map(|_| refund(&operator, &paid, "refund-1", 1_000))).await;

    let made = replies.iter().filter(|reply| reply.status == 201);
    assert_eq!(made.clone().filter(|reply| !reply.is_replay()).count(), 1);
    let others = replies.len() - made.count();
    let waiting = replies
        .iter()
        .filter(|reply| reply.code() == "request_in_progress");
    assert_eq!(waiting.count(), others);
    let later = refund(&operator, &paid, "refund-1", 1_000)
        .await
        .expect(201);
    assert!(later.is_replay());
    assert_eq!(shop.number("SELECT COUNT(*) FROM refund").await, 1);
    let other = refund(&operator, &paid, "refund-1", 2_000)
        .await
        .expect(422);
    assert_eq!(other.code(), "idempotency_key_reused");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn parts_leave_the_order_paid_and_the_last_part_refunds_it() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    for (key, amount) in [("a", 333), ("b", 333)] {
        refund(&operator, &paid, key, amount).await.expect(201);
        shop.run_jobs().await;
    }
    assert_eq!(read(&operator, &paid).await["status"], "PAID");

    refund(&operator, &paid, "c", 334).await.expect(201);
    assert_eq!(read(&operator, &paid).await["status"], "REFUNDING");
    shop.run_jobs().await;

    let order = read(&operator, &paid).await;
    assert_eq!(
        (&order["status"], &order["refunded_amount"]),
        (&json!("REFUNDED"), &json!(1_000))
    );
    assert_eq!(shop.stock("1").await, 1_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn what_was_shipped_does_not_come_back_to_the_shelf_by_a_refund() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    let shipment = json!({ "carrier": "SF", "tracking_no": "1" });
    let path = format!("/api/orders/{}/shipment", paid.order);
    operator.put(&path, &shipment, None).await.expect(200);

    refund(&operator, &paid, "a", 1_000).await.expect(201);
    shop.run_jobs().await;

    assert_eq!(read(&operator, &paid).await["status"], "REFUNDED");
    assert_eq!(shop.stock("1").await, 999);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_gateway_that_says_nothing_is_asked_again_under_the_same_number() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    let asked = refund(&operator, &paid, "a", 400).await.expect(201);
    shop.app.sandbox().unwrap().set_silent(true);
    shop.run_jobs().await;
    assert_eq!(refunds(&operator, &paid).await[0]["status"], "PROCESSING");
    shop.app.sandbox().unwrap().set_silent(false);
    shop.run_jobs().await;
    assert_eq!(
        refunds(&operator, &paid).await[0]["status"],
        "PROCESSING",
        "not due yet"
    );

    shop.advance(chrono::TimeDelta::minutes(1));
    shop.run_jobs().await;

    let known = refunds(&operator, &paid).await;
    assert_eq!(known[0]["status"], "SUCCEEDED");
    assert_eq!(known[0]["refund_no"], asked.body["refund_no"]);
    assert_eq!(shop.number("SELECT COUNT(*) FROM sandbox_refund").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_refund_that_failed_for_good_makes_room_and_alerts() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    let asked = refund(&operator, &paid, "a", 1_000).await.expect(201);
    let number = asked.body["refund_no"].as_str().unwrap();

    assert!(accepted(
        &paid
            .refund_failed("evt-9", number, 1_000)
            .deliver(&shop)
            .await
    ));

    assert_eq!(read(&operator, &paid).await["status"], "REFUNDING");
    let alerts = operator.get("/api/alerts").await;
    assert_eq!(alerts.body["data"][0]["kind"], "refund_failed");
    refund(&operator, &paid, "b", 1_000).await.expect(201);
    shop.run_jobs().await;
    assert_eq!(read(&operator, &paid).await["status"], "REFUNDED");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_success_after_a_failure_needs_room_again() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    let first = refund(&operator, &paid, "a", 700).await.expect(201);
    let number = first.body["refund_no"].as_str().unwrap().to_owned();
    assert!(accepted(
        &paid
            .refund_failed("evt-8", &number, 700)
            .deliver(&shop)
            .await
    ));
    refund(&operator, &paid, "b", 700).await.expect(201);

    assert!(accepted(
        &paid.refunded("evt-9", &number, 700).deliver(&shop).await
    ));
    shop.run_jobs().await;

    let alerts = operator.get("/api/alerts").await;
    assert_eq!(alerts.body["data"][0]["kind"], "over_refund");
    assert_eq!(read(&operator, &paid).await["refunded_amount"], 700);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn only_operators_and_services_refund_and_only_what_is_paid() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let unpaid = ann.buy(&order("NORMAL", &[("2", 1)])).await;
    let unpaid = Attempt {
        id: String::new(),
        order: unpaid,
        amount: 0,
    };
    let paid = paid_order(&shop, 1_000).await;

    let customer = refund(&ann, &paid, "a", 1).await;
    let early = refund(&shop.operator(), &unpaid, "b", 1).await;
    let nothing = refund(&shop.operator(), &paid, "c", 0).await;
    let unkeyed = shop
        .operator()
        .post(
            &format!("/api/orders/{}/refunds", paid.order),
            &json!({ "reason": "x" }),
        )
        .await;

    assert_eq!(
        [
            customer.status,
            early.status,
            nothing.status,
            unkeyed.status
        ],
        [403, 409, 422, 400]
    );
}

#[actix_web::test]
async fn shipping_and_receiving_again_change_nothing() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 1_000).await;
    let operator = shop.operator();
    let shipment = json!({ "carrier": "SF", "tracking_no": "1" });
    let path = format!("/api/orders/{}/shipment", paid.order);
    let shipped = join_all((0..50).map(|_| operator.put(&path, &shipment, None))).await;
    let other = json!({ "carrier": "SF", "tracking_no": "2" });
    let other = operator.put(&path, &other, None).await.expect(409);
    let ann = shop.customer("ann");
    let receipt = format!("/api/orders/{}/receipt", paid.order);

    let nothing = json!({});
    let received = join_all((0..50).map(|_| ann.put(&receipt, &nothing, None))).await;

    assert!(
        shipped
            .iter()
            .chain(&received)
            .all(|reply| reply.status == 200)
    );
    assert_eq!(other.code(), "shipment_differs");
    assert_eq!(read(&operator, &paid).await["status"], "FINISHED");
    assert_eq!(shop.number("SELECT COUNT(*) FROM order_event").await, 5);
    shop.assert_audit_is_clean().await;
}

/// An order of one piece at this price, paid.
async fn refunds(client: &Client, paid: &Attempt) -> Vec<Value> {
    let reply = client
        .get(&format!("/api/orders/{}/refunds", paid.order))
        .await
        .expect(200);
    reply.body["data"].as_array().unwrap().clone()
}

async fn read(client: &Client, paid: &Attempt) -> Value {
    client
        .get(&format!("/api/orders/{}", paid.order))
        .await
        .expect(200)
        .body
}

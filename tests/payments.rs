//! `POST /api/orders/{id}/payments`: one live attempt, and late money that finds its way.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::gateway::{Attempt, accepted};
use crate::support::{Reply, Shop, order};

#[actix_web::test]
async fn fifty_starts_at_once_are_one_attempt() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/payments");
    let body = json!({ "gateway": "sandbox" });

    let replies = join_all((0..50).map(|_| ann.post(&path, &body))).await;

    assert_eq!(
        replies.iter().filter(|reply| reply.status == 201).count(),
        1
    );
    assert!(replies.iter().all(|reply| reply.id() == replies[0].id()));
    assert!(
        replies
            .iter()
            .all(|reply| reply.body["checkout_url"].is_string())
    );
    assert_eq!(shop.status(&id).await, entity::order::OrderStatus::Paying);
    assert_eq!(shop.number("SELECT COUNT(*) FROM payment").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_key_stands_for_one_attempt_for_ever() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/payments");
    let body = json!({ "gateway": "sandbox", "idempotency_key": "pay-1" });
    let replies = join_all((0..50).map(|_| ann.post(&path, &body))).await;
    let first = replies.iter().find(|reply| reply.status == 201).unwrap();
    let attempt = Attempt {
        id: first.id(),
        order: id,
        amount: 12_800,
    };
    assert!(accepted(&attempt.failed("evt-1").deliver(&shop).await));

    let again = ann.post(&path, &body).await.expect(201);
    let elsewhere = ann.buy(&order("NORMAL", &[("2", 1)])).await;
    let reused = ann
        .post(&format!("/api/orders/{elsewhere}/payments"), &body)
        .await;

    assert!(again.is_replay());
    assert_eq!(
        (again.id(), &again.body["status"]),
        (first.id(), &json!("FAILED"))
    );
    assert_eq!(reused.code(), "idempotency_key_reused");
    assert_eq!(shop.number("SELECT COUNT(*) FROM payment").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_silent_gateway_is_unknown_and_asked_again_for_the_same_attempt() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}/payments");
    let body = json!({ "gateway": "sandbox" });
    shop.app.sandbox().unwrap().set_silent(true);
    let unknown = ann.post(&path, &body).await.expect(504);
    assert_eq!(
        (unknown.code(), unknown.header("Retry-After")),
        ("gateway_unknown", Some("1"))
    );
    shop.app.sandbox().unwrap().set_silent(false);

    let again = ann.post(&path, &body).await.expect(200);

    assert_eq!(again.body["status"], "LIVE");
    assert_eq!(shop.number("SELECT COUNT(*) FROM payment").await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn what_is_paid_closed_or_too_late_takes_no_attempt() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = json!({ "gateway": "sandbox" });
    let paid = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &paid).await;
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));
    let closed = ann.buy(&order("NORMAL", &[("2", 1)])).await;
    ann.delete(&format!("/api/orders/{closed}"))
        .await
        .expect(204);
    let late = ann.buy(&order("NORMAL", &[("3", 1)])).await;
    shop.advance(chrono::TimeDelta::minutes(15));

    let codes = [&paid, &closed, &late].map(|id| format!("/api/orders/{id}/payments"));
    let replies = join_all(codes.iter().map(|path| ann.post(path, &body))).await;

    let codes: Vec<&str> = replies.iter().map(Reply::code).collect();
    assert_eq!(
        codes,
        ["already_paid", "order_state_conflict", "order_expired"]
    );
    let bob = shop
        .customer("bob")
        .post(&format!("/api/orders/{late}/payments"), &body)
        .await;
    assert_eq!(bob.status, 404);
}

/// Whoever commits first decides; the books balance either way.
#[actix_web::test]
async fn a_success_and_a_cancel_at_the_same_instant_end_paid_or_closed_with_one_refund() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let ann = shop.customer("ann");
    let mut outcomes = [0, 0];

    for round in 0..200 {
        let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
        let attempt = Attempt::start(&ann, &id).await;
        let paid = attempt.paid(&format!("evt-{round}"));
        let path = format!("/api/orders/{id}");
        let (reply, _) = tokio::join!(paid.deliver(&shop), ann.delete(&path));
        assert!(accepted(&reply) || accepted(&paid.deliver(&shop).await));

        match shop.status(&id).await {
            entity::order::OrderStatus::Paid => outcomes[0] += 1,
            entity::order::OrderStatus::Closed => outcomes[1] += 1,
            other => panic!("round {round}: {other:?}"),
        }
    }
    shop.run_jobs().await;
    shop.run_jobs().await;

    let refunds = shop
        .number("SELECT COUNT(*) FROM refund WHERE status = 'SUCCEEDED'")
        .await;
    assert_eq!(refunds, outcomes[1]);
    assert_eq!(shop.stock("1").await, 1_000 - outcomes[0]);
    assert_eq!(outcomes[0] + outcomes[1], 200);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_cancelled_order_has_its_attempt_closed_at_the_gateway() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);

    shop.run_jobs().await;

    let payment = ann
        .get(&format!("/api/payments/{}", attempt.id))
        .await
        .expect(200);
    assert_eq!(payment.body["status"], "CLOSED");
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM sandbox_payment WHERE status = 'CLOSED'")
            .await,
        1
    );
    shop.assert_audit_is_clean().await;
}

/// The cashier's own messages travel over real HTTP.
#[actix_web::test]
async fn the_cashier_pays_with_a_hundred_copies_once() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    let path = format!("/api/sandbox/payments/{}/actions", attempt.id);

    let body = json!({ "action": "pay_hundred_times" });
    let cashier = shop.anonymous().post(&path, &body).await.expect(200);

    let deliveries = cashier.body["messages"][0]["deliveries"]
        .as_array()
        .unwrap();
    assert_eq!(deliveries.len(), 100);
    assert!(
        deliveries
            .iter()
            .all(|answer| answer["status"] == 200 || answer["status"] == 503)
    );
    assert_eq!(shop.status(&id).await, entity::order::OrderStatus::Paid);
    shop.assert_audit_is_clean().await;
}

//! Repeats that come after their records were archived change nothing.

use chrono::TimeDelta;
use order_service::domain::events::Consumer;
use order_service::jobs::relay;
use order_service::metrics::Layer;
use serde_json::json;

use crate::support::archived::{self, rows};
use crate::support::gateway::{accepted, paid_order, refund};
use crate::support::{Shop, order};

#[actix_web::test]
async fn a_duplicate_callback_is_stale() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    archived(&shop).await;
    assert_eq!(rows(&shop, "payment_callback").await, 0);
    let before = order_of(&shop, &paid.order).await;

    let reply = paid.paid("evt-paid").deliver(&shop).await;

    assert!(accepted(&reply));
    assert_eq!(order_of(&shop, &paid.order).await, before);
    let stale = "SELECT COUNT(*) FROM payment_callback WHERE outcome = 'STALE'";
    assert_eq!(shop.number(stale).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_late_message_about_a_refund_is_stale() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    let asked = refund(&shop.operator(), &paid, "a", 4_000)
        .await
        .expect(201);
    let number = asked.body["refund_no"].as_str().unwrap();
    let told = paid.refunded("evt-refund", number, 4_000);
    shop.run_jobs().await;
    assert!(accepted(&told.deliver(&shop).await));
    archived(&shop).await;
    let before = order_of(&shop, &paid.order).await;

    assert!(accepted(&told.deliver(&shop).await));

    assert_eq!(order_of(&shop, &paid.order).await, before);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_repeated_creation_by_token_is_the_same_order() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;
    let body = order("NORMAL", &[("1", 1)]);
    let id = ann.place(&key, &body).await.expect(201).id();
    archived(&shop).await;
    assert_eq!(rows(&shop, "idempotency_record").await, 0);
    let shop = shop.restarted_without_memory().await;

    let reply = shop.customer("ann").place(&key, &body).await.expect(201);
    let again = shop.customer("ann").place(&key, &body).await.expect(201);

    assert!(reply.is_replay() && again.is_replay());
    assert_eq!((reply.id(), again.id()), (id.clone(), id));
    assert_eq!(rows(&shop, "orders").await, 1);
    assert_eq!(rows(&shop, "idempotency_record").await, 0, "no tombstone");
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_repeated_creation_by_a_services_own_key_is_the_same_order_years_later() {
    let shop = Shop::open().await;
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = json!("bob");
    let crm = shop.service("crm");
    let id = crm.place("its-own-key", &body).await.expect(201).id();
    shop.customer("bob")
        .delete(&format!("/api/orders/{id}"))
        .await;
    shop.relay().await;
    shop.advance(TimeDelta::days(3_650));
    archived(&shop).await;
    let shop = shop.restarted_without_memory().await;

    let again = shop
        .service("crm")
        .place("its-own-key", &body)
        .await
        .expect(201);

    assert!(again.is_replay());
    assert_eq!(again.id(), id);
    assert_eq!(rows(&shop, "orders").await, 1);
}

#[actix_web::test]
async fn a_repeated_refund_is_the_same_refund_whatever_is_left_of_the_payment() {
    for amount in [4_000, 10_000] {
        let shop = Shop::open().await;
        let paid = paid_order(&shop, 10_000).await;
        let first = refund(&shop.operator(), &paid, "a", amount)
            .await
            .expect(201);
        shop.run_jobs().await;
        archived(&shop).await;
        assert_eq!(rows(&shop, "idempotency_record").await, 0);
        let shop = shop.restarted_without_memory().await;
        let before = order_of(&shop, &paid.order).await;

        let again = refund(&shop.operator(), &paid, "a", amount)
            .await
            .expect(201);
        let another = refund(&shop.operator(), &paid, "a", 1).await.expect(422);

        assert!(again.is_replay());
        assert_eq!(again.id(), first.id());
        assert_eq!(again.body["refund_no"], first.body["refund_no"]);
        assert_eq!(another.code(), "idempotency_key_reused");
        assert_eq!(rows(&shop, "refund").await, 1);
        assert_eq!(order_of(&shop, &paid.order).await, before);
        shop.assert_audit_is_clean().await;
    }
}

#[actix_web::test]
async fn a_repeated_payment_starts_none() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    archived(&shop).await;
    let shop = shop.restarted_without_memory().await;

    let path = format!("/api/orders/{}/payments", paid.order);
    let reply = shop
        .customer("ann")
        .post(&path, &json!({ "gateway": "sandbox" }))
        .await;

    assert_eq!(reply.expect(409).code(), "already_paid");
    assert_eq!(rows(&shop, "payment").await, 1);
}

#[actix_web::test]
async fn a_message_that_comes_again_has_no_second_effect_and_fails_nowhere() {
    let shop = Shop::open_with(&[("rabbitmq.url", "")]).await;
    paid_order(&shop, 10_000).await;
    shop.relay().await;
    archived(&shop).await;
    assert_eq!(rows(&shop, "message_consume_log").await, 0);
    let effects = (
        rows(&shop, "points_ledger").await,
        rows(&shop, "notification").await,
    );

    // As a broker does that was restored from long ago.
    shop.execute("UPDATE order_event SET published_at = NULL")
        .await;
    relay::relay(&shop.app).await.unwrap();

    let after = (
        rows(&shop, "points_ledger").await,
        rows(&shop, "notification").await,
    );
    assert_eq!(after, effects);
    assert_eq!(rows(&shop, "message_failure").await, 0);
    let points = Consumer::LoyaltyPoints.name();
    assert_eq!(shop.app.metrics.events.count(points, "failed"), 0);
    assert!(shop.app.metrics.intercepts(Layer::ConsumeLog, points) > 0);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_delivery_is_counted_only_while_its_record_may_change() {
    let shop = Shop::open().await;
    let paid = paid_order(&shop, 10_000).await;
    let deliveries = "SELECT deliveries FROM payment_callback";
    shop.advance(TimeDelta::days(30) - TimeDelta::hours(1));
    assert!(accepted(&paid.paid("evt-paid").deliver(&shop).await));
    assert_eq!(shop.number(deliveries).await, 2);

    shop.advance(TimeDelta::seconds(1));
    assert!(accepted(&paid.paid("evt-paid").deliver(&shop).await));

    assert_eq!(shop.number(deliveries).await, 2);
}

/// A month later everything that may go is archived.
async fn archived(shop: &Shop) {
    shop.advance(TimeDelta::days(31));
    assert!(archived::archived(shop).await.is_complete);
}

/// The order as its operator sees it.
async fn order_of(shop: &Shop, id: &str) -> serde_json::Value {
    let path = format!("/api/orders/{id}");
    shop.operator().get(&path).await.expect(200).body
}

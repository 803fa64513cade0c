//! `DELETE /api/orders/{id}`: the wish is fulfilled once, and again.

use order_service::domain::order_flow::Move;

use crate::support::{Shop, order};

#[actix_web::test]
async fn a_cancelled_order_is_closed_and_its_stock_is_back() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 4)])).await;
    let path = format!("/api/orders/{id}");

    ann.delete(&path).await.expect(204);
    ann.delete(&path).await.expect(204);

    let order = ann.get(&path).await.expect(200);
    assert_eq!(order.body["status"], "CLOSED");
    assert_eq!(order.body["allowed_actions"], serde_json::json!([]));
    assert!(order.body["closed_at"].is_string());
    assert_eq!(shop.stock("1").await, 1_000);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_order_in_payment_can_be_cancelled_and_a_paid_one_cannot() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let paying = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    shop.simulate(&paying, &[Move::StartPayment]).await;
    let paid = ann.buy(&order("NORMAL", &[("2", 1)])).await;
    shop.simulate(&paid, &[Move::Pay]).await;

    ann.delete(&format!("/api/orders/{paying}"))
        .await
        .expect(204);
    let refused = ann.delete(&format!("/api/orders/{paid}")).await.expect(409);

    assert_eq!(
        (refused.code(), &refused.body["order_status"]),
        ("order_state_conflict", &"PAID".into())
    );
    assert_eq!((shop.stock("1").await, shop.stock("2").await), (1_000, 999));
}

#[actix_web::test]
async fn a_stranger_hears_the_same_as_for_nothing_and_changes_nothing() {
    let shop = Shop::open().await;
    let id = shop
        .customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    let bob = shop.customer("bob");

    let anns = bob.delete(&format!("/api/orders/{id}")).await;
    let nothing = bob.delete("/api/orders/1").await;

    assert_eq!((anns.status, nothing.status), (204, 204));
    assert_eq!(
        shop.status(&id).await,
        entity::order::OrderStatus::PendingPayment
    );
    assert_eq!(shop.stock("1").await, 999);
}

#[actix_web::test]
async fn an_operator_cancels_any_order_and_hears_of_a_wrong_id() {
    let shop = Shop::open().await;
    let id = shop
        .customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    let operator = shop.operator();

    operator
        .delete(&format!("/api/orders/{id}"))
        .await
        .expect(204);
    let wrong = operator.delete("/api/orders/1").await.expect(404);

    assert_eq!(wrong.code(), "not_found");
    let timeline = operator.get(&format!("/api/orders/{id}/timeline")).await;
    assert_eq!(timeline.body["data"][1]["actor"], "operator");
}

//! `uk_user_product`: how many orders of one product a customer may have.

use futures_util::future::join_all;
use order_service::domain::order_flow::Move;
use serde_json::json;

use crate::support::gateway::{Attempt, accepted};
use crate::support::{Shop, order};

#[actix_web::test]
async fn fifty_tokens_make_one_flash_sale_order() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("FLASH_SALE", &[("1", 1)]);
    let tokens = join_all((0..50).map(|_| ann.token())).await;

    let replies = join_all(tokens.iter().map(|key| ann.place(key, &body))).await;

    let created: Vec<_> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(created.len(), 1);
    let id = created[0].id();
    let refused = replies
        .iter()
        .filter(|reply| reply.code() == "order_exists");
    assert_eq!(refused.clone().count(), 49);
    assert!(
        refused
            .into_iter()
            .all(|reply| reply.body["order_id"] == json!(id))
    );
    assert_eq!(shop.stock("1").await, 999);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn after_cancelling_a_flash_sale_order_another_is_possible() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("FLASH_SALE", &[("1", 1)]);
    let first = ann.buy(&body).await;
    ann.delete(&format!("/api/orders/{first}"))
        .await
        .expect(204);

    let second = ann.buy(&body).await;

    assert_ne!(first, second);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_paid_flash_sale_order_still_counts_until_it_is_refunded() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("FLASH_SALE", &[("1", 1)]);
    let first = ann.buy(&body).await;
    shop.simulate(&first, &[Move::Pay, Move::Ship, Move::Receive])
        .await;
    let refused = ann.place(&ann.token().await, &body).await.expect(409);
    assert_eq!(
        (refused.code(), &refused.body["order_id"]),
        ("order_exists", &json!(first))
    );
    shop.simulate(&first, &[Move::BeginRefund, Move::Refund])
        .await;

    let second = ann.place(&ann.token().await, &body).await;

    assert_eq!(second.status, 201);
}

#[actix_web::test]
async fn a_normal_order_makes_room_once_it_is_paid_or_closed() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]);
    let first = ann.buy(&body).await;
    ann.place(&ann.token().await, &body).await.expect(409);
    let attempt = Attempt::start(&ann, &first).await;
    ann.place(&ann.token().await, &body).await.expect(409);
    assert!(accepted(&attempt.paid("evt-1").deliver(&shop).await));

    let second = ann.buy(&body).await;
    ann.delete(&format!("/api/orders/{second}"))
        .await
        .expect(204);
    let third = ann.buy(&body).await;

    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 3);
    assert_ne!(second, third);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn one_taken_product_refuses_the_whole_cart_and_takes_nothing() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let first = ann.buy(&order("GROUP_BUY", &[("2", 1)])).await;

    let reply = ann
        .place(
            &ann.token().await,
            &order("GROUP_BUY", &[("1", 1), ("2", 1)]),
        )
        .await;

    assert_eq!(
        (reply.code(), &reply.body["order_id"]),
        ("order_exists", &json!(first))
    );
    assert_eq!((shop.stock("1").await, shop.stock("2").await), (1_000, 999));
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn types_and_customers_do_not_stand_in_each_others_way() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");

    ann.buy(&order("FLASH_SALE", &[("1", 1)])).await;
    ann.buy(&order("GROUP_BUY", &[("1", 1)])).await;
    ann.buy(&order("NORMAL", &[("1", 1)])).await;
    shop.customer("bob")
        .buy(&order("FLASH_SALE", &[("1", 1)]))
        .await;

    assert_eq!(shop.stock("1").await, 996);
}

#[actix_web::test]
async fn an_unlimited_type_takes_any_number() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let ann = shop.customer("ann");

    for _ in 0..3 {
        ann.buy(&order("NORMAL", &[("1", 1)])).await;
    }

    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 3);
    shop.assert_audit_is_clean().await;
}

//! Loyalty points: exact over any number of partial refunds, in any order, whatever else happens to an order.

use entity::order::OrderStatus;

use crate::support::Shop;
use crate::support::events::{ask, asked, balance, messages, publish, refunded, two_attempts};
use crate::support::gateway::{accepted, paid_order};

#[actix_web::test]
async fn messages_in_any_order_end_in_the_same_points() {
    let shop = Shop::open().await;
    let paid = refunded(&shop, &[333, 334]).await;
    shop.deliver();
    let mut messages = messages(&shop, &paid.order).await;
    messages.reverse();

    for message in &messages {
        publish(&shop, message).await;
    }
    shop.relay().await;

    assert_eq!(balance(&shop).await, 93);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn three_parts_of_a_whole_leave_the_points_of_nothing() {
    let shop = Shop::open().await;
    let paid = asked(&shop, &[9_000]).await;
    shop.run_jobs().await;
    shop.run_jobs().await;
    let before = balance(&shop).await;

    for (part, left) in [(333, 6), (333, 3), (334, 0)] {
        ask(&shop, &paid, part).await;
        shop.run_jobs().await;
        shop.run_jobs().await;
        assert_eq!(balance(&shop).await, left);
        shop.assert_audit_is_clean().await;
    }

    assert_eq!(before, 10);
    let reply = shop.customer("ann").get("/api/points").await.expect(200);
    let changes: Vec<i64> = reply.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|movement| movement["change"].as_i64().unwrap())
        .collect();
    assert_eq!(changes, [-3, -3, -4, -90, 100]);
    assert_eq!(shop.status(&paid.order).await, OrderStatus::Refunded);
}

#[actix_web::test]
async fn refunds_of_two_payments_under_the_same_number_are_two_facts() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (first, second) = two_attempts(&shop, &ann).await;
    let early = first.refunded("back-1", "R1", 500);
    let booked = second.refunded("back-2", "R1", 500);

    for message in [second.paid("pay-2"), early, first.paid("pay-1"), booked] {
        assert!(accepted(&message.deliver(&shop).await));
    }
    shop.run_jobs().await;

    let told = "SELECT COUNT(*) FROM message_consume_log \
                WHERE consumer = 'notifications' AND biz_key LIKE '%:RefundSucceeded:%:R1'";
    assert_eq!(shop.number(told).await, 2);
    assert_eq!(balance(&shop).await, 95);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn surplus_money_that_goes_back_takes_no_points() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (first, second) = two_attempts(&shop, &ann).await;

    assert!(accepted(&second.paid("pay-2").deliver(&shop).await));
    assert!(accepted(&first.paid("pay-1").deliver(&shop).await));
    shop.run_jobs().await;
    shop.run_jobs().await;

    assert_eq!(balance(&shop).await, 100);
    let back = "SELECT COUNT(*) FROM refund WHERE origin = 'AUTOMATIC' AND status = 'SUCCEEDED'";
    assert_eq!(shop.number(back).await, 1);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn an_order_keeps_the_unit_of_points_that_it_was_placed_under() {
    let shop = Shop::open_with(&[("points.unit", "7")]).await;
    let paid = paid_order(&shop, 10_000).await;
    shop.run_jobs().await;
    assert_eq!(balance(&shop).await, 1_428);

    shop.execute("UPDATE orders SET points_unit = 1000").await;
    ask(&shop, &paid, 9_999).await;
    shop.execute("UPDATE orders SET points_unit = 7").await;
    shop.run_jobs().await;
    shop.run_jobs().await;

    assert_eq!(balance(&shop).await, 0);
    shop.assert_audit_is_clean().await;
}

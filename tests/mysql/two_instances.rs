//! The same and different requests at two instances at once.

use futures_util::StreamExt;
use futures_util::future::join_all;

use super::{assert_one_order, hundred};
use crate::support::{Client, Reply, Shop, order};

#[actix_web::test]
async fn a_hundred_identical_creations_at_two_instances_make_one_order() {
    let shop = Shop::open().await;
    let instances = [&shop, &shop.another_instance().await];
    let key = shop.customer("ann").token().await;
    let body = order("NORMAL", &[("1", 2)]);

    let replies: Vec<Reply> = hundred(&instances, &key, &body).collect().await;

    assert_one_order(&instances, &key, &body, &replies).await;
}

#[actix_web::test]
async fn a_hundred_identical_creations_at_two_instances_that_share_no_gate_make_one_order() {
    let shop = Shop::open().await;
    let changes = [("redis.key_prefix", "another-gate:")];
    let (place, clock) = (shop.place.clone(), shop.app.clock.clone());
    let instances = [&shop, &Shop::open_at(place, clock, &changes).await];
    let key = shop.customer("ann").token().await;
    let body = order("NORMAL", &[("1", 2)]);

    let replies: Vec<Reply> = hundred(&instances, &key, &body).collect().await;

    assert_one_order(&instances, &key, &body, &replies).await;
}

#[actix_web::test]
async fn of_a_hundred_buyers_at_two_instances_ten_get_the_ten_pieces() {
    let shop = Shop::open().await;
    let other = shop.another_instance().await;
    shop.set_stock("1", 10).await;
    let instances = [&shop, &other];
    let buyers = (0..100).map(|number| instances[number % 2].customer(&format!("buyer-{number}")));

    let replies = join_all(buyers.map(|buyer| buy(buyer, "NORMAL"))).await;

    assert_eq!(count(&replies, "out_of_stock"), 90);
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 201).count(),
        10
    );
    assert_eq!(shop.stock("1").await, 0);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 10);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn fifty_flash_sale_creations_of_one_buyer_at_two_instances_make_one_order() {
    let shop = Shop::open().await;
    let other = shop.another_instance().await;
    let instances = [&shop, &other];
    let buyers = (0..50).map(|number| instances[number % 2].customer("ann"));

    let replies = join_all(buyers.map(|buyer| buy(buyer, "FLASH_SALE"))).await;

    assert_eq!(count(&replies, "order_exists"), 49);
    let created = replies.iter().find(|reply| reply.status == 201).unwrap();
    let mut others = replies.iter().filter(|reply| reply.status != 201);
    assert!(others.all(|reply| reply.body["order_id"] == created.body["id"]));
    assert_eq!(shop.stock("1").await, 999);
    shop.assert_audit_is_clean().await;
}

async fn buy(buyer: Client, kind: &str) -> Reply {
    let key = buyer.token().await;
    buyer.place(&key, &order(kind, &[("1", 1)])).await
}

fn count(replies: &[Reply], code: &str) -> usize {
    replies.iter().filter(|reply| reply.code() == code).count()
}

//! `GET /api/orders…`: each caller sees his own, an operator all.

use chrono::TimeDelta;
use serde_json::json;

use crate::support::client::address;
use crate::support::{Shop, order};

#[actix_web::test]
async fn a_list_pages_through_every_order_once_newest_first() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let ann = shop.customer("ann");
    let mut placed = Vec::new();
    for n in 0..7 {
        // Two in one moment, so that the id decides between them.
        shop.advance(TimeDelta::milliseconds(n % 2));
        placed.push(ann.buy(&order("NORMAL", &[("1", 1), ("2", 1)])).await);
    }
    shop.customer("bob")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;

    let mut seen = Vec::new();
    let mut path = "/api/orders?limit=3".to_owned();
    loop {
        let page = ann.get(&path).await.expect(200);
        for order in page.body["data"].as_array().unwrap() {
            assert_eq!(order["items"].as_array().unwrap().len(), 2);
            seen.push(order["id"].as_str().unwrap().to_owned());
        }
        match page.body["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/orders?limit=3&cursor={cursor}"),
            None => break,
        }
    }

    placed.reverse();
    assert_eq!(seen, placed);
    assert_eq!(
        shop.operator().get("/api/orders?limit=100").await.body["data"]
            .as_array()
            .unwrap()
            .len(),
        8
    );
}

#[actix_web::test]
async fn a_list_can_be_of_one_status() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let closed = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    ann.delete(&format!("/api/orders/{closed}"))
        .await
        .expect(204);
    ann.buy(&order("NORMAL", &[("1", 1)])).await;

    let page = ann.get("/api/orders?status=CLOSED").await.expect(200);

    assert_eq!(page.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(page.body["data"][0]["id"], json!(closed));
}

#[actix_web::test]
async fn a_query_that_cannot_be_meant_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");

    for (query, status) in [
        ("limit=0", 422),
        ("limit=101", 422),
        ("limit=x", 400),
        ("cursor=x", 422),
        ("page=2", 400),
        ("status=NEW", 400),
    ] {
        assert_eq!(
            ann.get(&format!("/api/orders?{query}")).await.status,
            status,
            "{query}"
        );
    }
}

#[actix_web::test]
async fn the_timeline_tells_every_step_in_order_and_nothing_personal() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    ann.put(
        &format!("/api/orders/{id}/address"),
        &address("Secret Lane 9"),
        None,
    )
    .await
    .expect(200);
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);

    let timeline = ann
        .get(&format!("/api/orders/{id}/timeline"))
        .await
        .expect(200);

    let steps: Vec<_> = timeline.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            (
                step["seq"].as_i64().unwrap(),
                step["type"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        steps,
        [
            (1, "OrderPlaced"),
            (2, "AddressChanged"),
            (3, "OrderClosed")
        ]
    );
    assert_eq!(timeline.body["data"][2]["from"], "PENDING_PAYMENT");
    assert!(!timeline.body.to_string().contains("Secret"));
}

#[actix_web::test]
async fn another_customers_order_is_not_there() {
    let shop = Shop::open().await;
    let id = shop
        .customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    let bob = shop.customer("bob");

    let order = bob.get(&format!("/api/orders/{id}")).await;
    let timeline = bob.get(&format!("/api/orders/{id}/timeline")).await;
    let no_id = bob.get("/api/orders/not-a-number").await;

    assert_eq!(
        [order.status, timeline.status, no_id.status],
        [404, 404, 404]
    );
    shop.operator()
        .get(&format!("/api/orders/{id}"))
        .await
        .expect(200);
}

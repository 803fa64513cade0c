//! `/api/products…`: open to all, changed by operators under the version that they saw.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::Shop;

#[actix_web::test]
async fn the_catalogue_is_open_to_all() {
    let shop = Shop::open().await;
    let anybody = shop.anonymous();

    let list = anybody.get("/api/products").await.expect(200);
    let one = anybody.get("/api/products/1").await.expect(200);

    let products = list.body["data"].as_array().unwrap();
    assert_eq!(products.len(), 6);
    assert!(
        products
            .iter()
            .all(|product| product["price"].as_i64().unwrap() >= 1_000)
    );
    assert!(
        products
            .iter()
            .all(|product| product["stock"]["quantity"] == 1_000)
    );
    assert_eq!(one.body, products[0]);
}

#[actix_web::test]
async fn an_equal_offer_changes_nothing_whatever_version_was_seen() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let offer = json!({ "name": "Tea", "price": 9_900, "currency": "CNY", "on_sale": true });

    let replies = join_all((0..50).map(|_| operator.put("/api/products/1", &offer, Some(1)))).await;

    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 200 && reply.body["version"] == 2)
    );
    let other = json!({ "name": "Tea", "price": 9_901, "currency": "CNY", "on_sale": true });
    let old = operator
        .put("/api/products/1", &other, Some(1))
        .await
        .expect(412);
    assert_eq!(old.code(), "version_conflict");
}

#[actix_web::test]
async fn a_counted_stock_names_the_version_and_goes_to_the_ledger_once() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let path = "/api/products/1/stock";
    let counted = json!({ "quantity": 250 });

    let blind = operator.put(path, &counted, None).await.expect(428);
    let replies = join_all((0..50).map(|_| operator.put(path, &counted, Some(1)))).await;
    let old = operator
        .put(path, &json!({ "quantity": 7 }), Some(1))
        .await
        .expect(412);

    assert_eq!(
        (blind.code(), old.code()),
        ("version_required", "version_conflict")
    );
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM stock_ledger WHERE product_id = 1")
            .await,
        2
    );
    assert_eq!(shop.stock("1").await, 250);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn only_operators_change_prices_and_see_stock_alone() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let offer = json!({ "name": "Tea", "price": 1, "currency": "CNY", "on_sale": true });

    let statuses = [
        ann.put("/api/products/1", &offer, None).await.status,
        ann.get("/api/products/1/stock").await.status,
        ann.put("/api/products/1/stock", &json!({ "quantity": 1 }), Some(1))
            .await
            .status,
        shop.anonymous().get("/api/products/1/stock").await.status,
        shop.operator().get("/api/products/77/stock").await.status,
    ];

    assert_eq!(statuses, [403, 403, 403, 401, 404]);
}

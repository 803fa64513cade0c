//! `/api/alerts`: what a person must see, and that he saw it.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::Shop;
use crate::support::entrance::eventually;

#[actix_web::test]
async fn a_lock_that_is_lost_at_work_is_told_to_a_person() {
    let shop = Shop::open_with(&[("lock.lease", "20ms"), ("lock.hold", "40ms")]).await;
    let operator = shop.operator();
    let told = async || {
        let alerts = operator.get("/api/alerts").await.expect(200);
        alerts.body["data"][0]["kind"] == "lock_lost"
    };

    let held = shop
        .app
        .locks
        .hold("pay:callback:7", eventually(told))
        .await;

    held.unwrap();
    let alerts = operator.get("/api/alerts").await;
    assert_eq!(alerts.body["data"][0]["subject"], "pay:callback:7");
}

#[actix_web::test]
async fn an_alert_is_acknowledged_once_however_often_it_is_said() {
    let shop = Shop::open().await;
    let columns = "kind, subject, order_id, detail, created_at";
    shop.execute(&format!(
        "INSERT INTO alert ({columns}) VALUES ('x', 'y', 0, 'z', '2026-12-23 04:26:40')"
    ))
    .await;
    let operator = shop.operator();
    let id = operator.get("/api/alerts").await.body["data"][0]["id"].clone();
    let path = format!("/api/alerts/{}/acknowledgement", id.as_str().unwrap());
    let first = operator.put(&path, &json!({}), None).await.expect(200);
    shop.advance(chrono::TimeDelta::minutes(1));

    let nothing = json!({});
    let again = join_all((0..20).map(|_| operator.put(&path, &nothing, None))).await;

    assert!(first.body["acknowledged_at"].is_string());
    assert!(again.iter().all(|reply| reply.body == first.body));
}

#[actix_web::test]
async fn alerts_are_for_operators() {
    let shop = Shop::open().await;

    let customer = shop.customer("ann").get("/api/alerts").await;
    let nothing = shop
        .operator()
        .put("/api/alerts/1/acknowledgement", &json!({}), None)
        .await;

    assert_eq!([customer.status, nothing.status], [403, 404]);
}

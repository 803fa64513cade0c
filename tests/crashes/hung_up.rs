//! A client who breaks off in the middle of its request: the work still ends, and its repeat need not wait.

use reqwest::Method;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::support::entrance::eventually;
use crate::support::faults::{Aside, Buyer};
use crate::support::{Shop, order};

/// A claim that is left to its lease fails the test.
const ENDLESS: [(&str, &str); 1] = [("gate.lease", "10m")];

#[actix_web::test]
async fn the_work_of_a_client_who_broke_off_ends_and_is_replayed_at_once() {
    let shop = Shop::open_with(&ENDLESS).await;
    let aside = Aside::to(&shop.place).await;
    let ann = Buyer::new(shop.customer("ann")).await;
    let body = order("NORMAL", &[("1", 2)]);
    let blockade = aside.block(1).await;

    break_off(&shop, &ann, &body).await;
    blockade.lift().await;
    eventually(async || shop.number("SELECT COUNT(*) FROM orders").await == 1).await;

    let replay = ann.place(&body).await.expect(201);
    assert!(replay.is_replay());
    assert_eq!(shop.stock("1").await, 998);
    shop.assert_audit_is_clean().await;
}

#[actix_web::test]
async fn a_refusal_that_its_client_did_not_wait_for_leaves_the_token_usable() {
    let shop = Shop::open_with(&ENDLESS).await;
    let aside = Aside::to(&shop.place).await;
    let ann = Buyer::new(shop.customer("ann")).await;
    let body = order("NORMAL", &[("1", 2)]);
    let blockade = aside.block(1).await;
    let sold_out = "UPDATE stock SET quantity = 1 WHERE product_id = 1";
    blockade.execute(sold_out).await;

    break_off(&shop, &ann, &body).await;
    blockade.lift().await;
    eventually(async || ann.place(&body).await.code() == "out_of_stock").await;

    let counted_anew = "UPDATE stock SET quantity = 1000 WHERE product_id = 1";
    aside.execute(counted_anew).await;
    ann.place(&body).await.expect(201);
    shop.assert_audit_is_clean().await;
}

/// Sends a creation and resets the connection when its transaction is under way; returns when the server has seen it.
async fn break_off(shop: &Shop, buyer: &Buyer, body: &Value) {
    let address = shop.base.strip_prefix("http://").unwrap();
    let connection = TcpStream::connect(address).await.unwrap();
    connection.writable().await.unwrap();
    let request = on_the_wire(buyer, body);
    let sent = connection.try_write(request.as_bytes()).unwrap();
    assert_eq!(sent, request.len());
    eventually(async || shop.app.metrics.transactions.get() == 1).await;

    connection.set_zero_linger().unwrap();
    drop(connection);
    // Both workers get connections in turn, and each sees what came before.
    for _ in 0..10 {
        shop.anonymous().get("/healthz").await.expect(200);
    }
}

fn on_the_wire(buyer: &Buyer, body: &Value) -> String {
    let request = buyer.client.request(Method::POST, "/api/orders");
    let headers = request.build().unwrap().headers().clone();
    let bearer = headers["authorization"].to_str().unwrap().to_owned();
    let (key, body) = (&buyer.key, body.to_string());
    format!(
        "POST /api/orders HTTP/1.1\r\nHost: shop\r\nAuthorization: {bearer}\r\nIdempotency-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

//! Ids in paths, queries, sizes, and what operators send.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::client::send;
use crate::support::{Client, Shop, order};

#[actix_web::test]
async fn an_id_has_one_name_only() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    for alias in [
        format!("+{id}"),
        format!("%2B{id}"),
        format!("0{id}"),
        format!("-{id}"),
        format!("{id}.0"),
        format!("{id}%20"),
        format!("{id}%00"),
        format!("0x{id}"),
        format!("{id};v=1"),
        "-1".to_owned(),
        "9223372036854775808".to_owned(),
        "1e3".to_owned(),
        "null".to_owned(),
        "%FF".to_owned(),
        "1".repeat(5_000),
    ] {
        let path = format!("/api/orders/{alias}");
        let replies = [
            ann.get(&path).await,
            ann.get(&format!("{path}/timeline")).await,
            ann.delete(&path).await,
            shop.anonymous()
                .get(&format!("/api/products/{alias}"))
                .await,
        ];

        for reply in replies {
            assert_eq!((reply.status, reply.code()), (404, "not_found"), "{alias}");
        }
    }
    assert_eq!(
        ann.get(&format!("/api/orders/{id}")).await.body["status"],
        "PENDING_PAYMENT"
    );
}

#[actix_web::test]
async fn a_query_that_cannot_be_used_is_refused() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    ann.buy(&order("NORMAL", &[("1", 1)])).await;
    for (query, status, code) in [
        ("status=paid", 400, "malformed_request"),
        ("status=", 400, "malformed_request"),
        ("status=PAID&status=CLOSED", 400, "malformed_request"),
        ("limit=many", 400, "malformed_request"),
        ("limit=", 400, "malformed_request"),
        ("limit=-1", 400, "malformed_request"),
        ("limit=1.0", 400, "malformed_request"),
        ("limit=4294967296", 400, "malformed_request"),
        ("limit=1&limit=2", 400, "malformed_request"),
        ("user_id=bob", 400, "malformed_request"),
        ("limit[]=1", 400, "malformed_request"),
        ("%FF=1", 400, "malformed_request"),
        ("limit=0", 422, "invalid_fields"),
        ("limit=101", 422, "invalid_fields"),
        ("cursor=", 422, "invalid_fields"),
        ("cursor=1", 422, "invalid_fields"),
        ("cursor=%FF%00", 422, "invalid_fields"),
        // "a.b", "1", ".", "0.+1", the last microsecond of an i64, and years 200000, -1168 and 20000
        ("cursor=YS5i", 422, "invalid_fields"),
        ("cursor=MQ", 422, "invalid_fields"),
        ("cursor=Lg", 422, "invalid_fields"),
        ("cursor=MC4rMQ", 422, "invalid_fields"),
        ("cursor=OTIyMzM3MjAzNjg1NDc3NTgwNy4x", 422, "invalid_fields"),
        ("cursor=NjI0ODAwMDAwMDAwMDAwMDAwMC4x", 422, "invalid_fields"),
        ("cursor=LTk5MDAwMDAwMDAwMDAwMDAwLjE", 422, "invalid_fields"),
        ("cursor=NTY4OTcxMDEzNTAwMDAwMDAwLjE", 422, "invalid_fields"),
    ] {
        let reply = ann.get(&format!("/api/orders?{query}")).await;

        assert_eq!((reply.status, reply.code()), (status, code), "{query}");
    }
    ann.get("/api/orders?limit=100&status=PENDING_PAYMENT")
        .await
        .expect(200);
}

#[actix_web::test]
async fn a_body_ends_at_64_kib() {
    let shop = Shop::open().await;
    let (ann, operator) = (shop.customer("ann"), shop.operator());
    let body = order("NORMAL", &[("1", 1)]).to_string();
    let key = ann.token().await;
    let padded = |text: &str, length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    let place = |length| {
        let request = json_request(&ann, Method::POST, "/api/orders", padded(&body, length));
        send(request.header("Idempotency-Key", &key))
    };
    let count = |length| {
        let path = "/api/products/1/stock";
        send(json_request(
            &operator,
            Method::PUT,
            path,
            padded("{\"quantity\":1000}", length),
        ))
    };

    let beyond = [
        place(65_537).await,
        count(65_537).await,
        place(10_000_000).await,
    ];
    let at_the_end = [count(65_536).await, place(65_536).await];

    for reply in beyond {
        assert_eq!((reply.status, reply.code()), (413, "body_too_large"));
    }
    assert_eq!(at_the_end.map(|reply| reply.status), [200, 201]);
}

#[actix_web::test]
async fn operators_write_as_carefully_as_customers() {
    let shop = Shop::open().await;
    let operator = shop.operator();
    let offer = json!({ "name": "Tea", "price": 1, "currency": "CNY", "on_sale": true });
    let with = |field: &str, value: Value| {
        let mut offer = offer.clone();
        offer[field] = value;
        offer
    };
    for (path, body, status) in [
        ("/api/products/1", with("price", json!(-1)), 422),
        (
            "/api/products/1",
            with("price", json!(1_000_000_000_001_i64)),
            422,
        ),
        ("/api/products/1", with("price", json!("1")), 400),
        ("/api/products/1", with("price", json!(1.5)), 400),
        ("/api/products/1", with("currency", json!("cny")), 422),
        ("/api/products/1", with("currency", json!("XXX")), 422),
        ("/api/products/1", with("name", json!("\u{202e}aeT")), 422),
        ("/api/products/1", with("name", json!("\t")), 422),
        ("/api/products/1", with("on_sale", json!("true")), 400),
        ("/api/products/1", with("sku", json!("TEA")), 400),
        ("/api/products/1", json!(["Tea", 1, "CNY", true]), 400),
        ("/api/products/1/stock", json!([1]), 400),
        ("/api/products/1/stock", json!({ "quantity": -1 }), 422),
        (
            "/api/products/1/stock",
            json!({ "quantity": 1_000_000_001 }),
            422,
        ),
        ("/api/products/1/stock", json!({ "quantity": 1e3 }), 400),
        ("/api/products/1/stock", json!({}), 400),
    ] {
        let reply = operator.put(path, &body, Some(1)).await;

        assert_eq!(reply.status, status, "{path} {body}: {}", reply.body);
    }
    let product = operator.get("/api/products/1").await.body;
    assert_eq!(
        (&product["version"], &product["stock"]["quantity"]),
        (&json!(1), &json!(1_000))
    );
}

fn json_request(caller: &Client, method: Method, path: &str, body: String) -> RequestBuilder {
    let request = caller.request(method, path).body(body);
    request.header("Content-Type", "application/json")
}

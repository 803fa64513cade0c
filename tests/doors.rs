//! The doors: which methods each knows, to whom it opens, and what its answers say beside the body.

use reqwest::Method;
use serde_json::{Value, json};

use crate::contract::assert_problem;
use crate::support::client::send;
use crate::support::{Shop, order};

#[actix_web::test]
async fn every_door_refuses_other_methods_and_names_its_own() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    for (path, allowed) in [
        ("/api/orders", "GET, HEAD, POST"),
        ("/api/orders/1", "GET, HEAD, DELETE"),
        ("/api/orders/1/timeline", "GET, HEAD"),
        ("/api/orders/1/address", "PUT"),
        ("/api/order-tokens", "POST"),
        ("/api/products", "GET, HEAD"),
        ("/api/products/1", "GET, HEAD, PUT"),
        ("/api/products/1/stock", "GET, HEAD, PUT"),
        ("/api/dev", "GET, HEAD"),
        ("/api/dev/sign-in", "POST"),
        ("/healthz", "GET, HEAD"),
        ("/readyz", "GET, HEAD"),
        ("/metrics", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
        ("/docs", "GET, HEAD"),
        ("/docs/", "GET, HEAD"),
        ("/", "GET, HEAD"),
    ] {
        for method in [Method::PATCH, Method::OPTIONS, Method::TRACE] {
            let reply = send(ann.request(method.clone(), path)).await;

            assert_problem(&reply);
            assert_eq!(reply.code(), "method_not_allowed", "{method} {path}");
            assert_eq!(reply.header("Allow"), Some(allowed), "{path}");
        }
    }
}

#[actix_web::test]
async fn a_head_is_answered_like_its_get() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;

    for path in [
        "/healthz",
        "/readyz",
        "/",
        "/docs/",
        &format!("/api/orders/{id}"),
    ] {
        let get = ann.get(path).await.expect(200);
        let head = send(ann.request(Method::HEAD, path)).await.expect(200);

        assert_eq!(head.body, Value::Null, "{path}");
        assert_eq!(head.header("ETag"), get.header("ETag"), "{path}");
        assert_eq!(head.header("Content-Type"), get.header("Content-Type"));
    }
}

#[actix_web::test]
async fn what_is_not_there_is_a_problem_for_everybody() {
    let shop = Shop::open().await;
    for caller in [shop.anonymous(), shop.customer("ann"), shop.operator()] {
        for path in [
            "/api",
            "/api/nothing",
            "/api/orders/",
            "/nothing.html",
            "/docs/nothing.js",
        ] {
            let reply = caller.get(path).await;

            assert_problem(&reply);
            assert_eq!(reply.code(), "not_found", "{path}");
        }
    }
}

#[actix_web::test]
async fn each_role_has_doors_that_are_closed_to_it() {
    let shop = Shop::open().await;
    let (customer, operator, service) = (shop.customer("ann"), shop.operator(), shop.service("s"));
    let offer = json!({ "name": "Tea", "price": 1, "currency": "CNY", "on_sale": true });
    let body = order("NORMAL", &[("1", 1)]);

    let refused = [
        customer.put("/api/products/1", &offer, None).await,
        customer.get("/api/products/1/stock").await,
        customer
            .put("/api/products/1/stock", &json!({ "quantity": 1 }), None)
            .await,
        operator.place("key", &body).await,
        send(operator.request(Method::POST, "/api/order-tokens")).await,
        send(service.request(Method::POST, "/api/order-tokens")).await,
        service.get("/api/orders").await,
        service.get("/api/orders/1").await,
        service.get("/api/orders/1/timeline").await,
        service.delete("/api/orders/1").await,
        service
            .put("/api/orders/1/address", &body["address"], None)
            .await,
        service.put("/api/products/1", &offer, None).await,
        service.get("/api/products/1/stock").await,
    ];

    for reply in refused {
        assert_problem(&reply);
        assert_eq!(reply.code(), "forbidden");
    }
}

#[actix_web::test]
async fn answers_say_where_and_in_which_version_the_thing_is() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let key = ann.token().await;

    let placed = ann
        .place(&format!("\"{key}\""), &order("NORMAL", &[("1", 1)]))
        .await
        .expect(201);
    let location = placed.header("Location").unwrap().to_owned();
    let read = ann.get(&location).await.expect(200);

    assert_eq!(placed.header("Idempotency-Key"), Some(key.as_str()));
    assert_eq!(placed.header("Idempotency-Key-Generated"), None);
    assert_eq!(placed.header("Content-Type"), Some("application/json"));
    assert_eq!(read.id(), placed.id());
    assert_eq!(read.header("ETag"), placed.header("ETag"));
    let version = format!("\"{}\"", read.body["version"]);
    assert_eq!(read.header("ETag"), Some(version.as_str()));
    for path in ["/api/products/1", "/api/products/1/stock"] {
        let reply = shop.operator().get(path).await.expect(200);
        let version = format!("\"{}\"", reply.body["version"]);
        assert_eq!(reply.header("ETag"), Some(version.as_str()), "{path}");
    }
}

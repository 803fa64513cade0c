//! What stands in front of a body: keys, versions that were seen, and types.

use reqwest::Method;
use serde_json::json;

use crate::support::client::send;
use crate::support::{Shop, order};

#[actix_web::test]
async fn one_key_is_one_key() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (key, other) = (ann.token().await, ann.token().await);
    let body = order("NORMAL", &[("1", 1)]);
    let place = || ann.request(Method::POST, "/api/orders").json(&body);

    let refused = [
        place()
            .header("Idempotency-Key", &key)
            .header("Idempotency-Key", &other),
        place()
            .header("Idempotency-Key", &key)
            .header("idempotency-key", &key),
        place().header("Idempotency-Key", format!("\"{key}")),
        place().header("Idempotency-Key", format!("\"{key}\"; a=1")),
        place().header("Idempotency-Key", format!("\"{key}\\n\"")),
        place().header("Idempotency-Key", "x".repeat(256)),
        place().header("Idempotency-Key", "x".repeat(20_000)),
        place().header("Idempotency-Key", "schlüssel"),
        place().header("Idempotency-Key", b"\xff".as_slice()),
    ];

    for request in refused {
        let reply = send(request).await;
        let known = ["idempotency_key_invalid", "order_token_invalid"];
        assert!(
            reply.status == 400 && known.contains(&reply.code()),
            "{}",
            reply.body
        );
    }
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 0);
}

#[actix_web::test]
async fn of_a_key_in_the_header_and_one_in_the_body_the_header_wins() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (key, other) = (ann.token().await, ann.token().await);
    let mut body = order("NORMAL", &[("1", 1)]);
    body["idempotency_key"] = json!(other);

    let placed = ann.place(&key, &body).await.expect(201);
    body["idempotency_key"] = json!(key);
    let again = ann.post("/api/orders", &body).await.expect(201);

    assert_eq!(placed.header("Idempotency-Key"), Some(key.as_str()));
    assert!(again.is_replay());
    assert_eq!(again.id(), placed.id());
}

#[actix_web::test]
async fn keys_with_separators_never_meet_those_of_others() {
    let shop = Shop::open_with(&[("orders.types.normal.policy", "unlimited")]).await;
    let mut body = order("NORMAL", &[("1", 1)]);
    body["user_id"] = json!("ann");
    let mut ids = std::collections::BTreeSet::new();

    for (service, key) in [
        ("a", "create_orderc"),
        ("acreate_order", "c"),
        ("a", "create_order:c"),
        ("a:create_order", "c"),
        ("a", "create_order|c"),
        ("a|create_order", "c"),
        ("a", "create_order,c"),
        ("a,create_order", "c"),
        ("service", "service"),
        ("a", "*"),
    ] {
        let reply = shop.service(service).place(key, &body).await.expect(201);
        assert!(!reply.is_replay(), "{service} {key}");
        ids.insert(reply.id());
    }

    assert_eq!(ids.len(), 10);
}

#[actix_web::test]
async fn an_if_match_holds_one_version() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]);
    let id = ann.buy(&body).await;
    let path = format!("/api/orders/{id}/address");
    let version = ann.get(&format!("/api/orders/{id}")).await.body["version"].to_string();
    let put = |line: &str| {
        let mut address = body["address"].clone();
        address["line1"] = json!(line);
        ann.request(Method::PUT, &path).json(&address)
    };
    for refused in [
        format!("W/\"{version}\""),
        format!("\"{version}"),
        format!("{version}\""),
        format!("\"\"{version}\"\""),
        format!("\"{version}\", \"{version}\""),
        format!("+{version}"),
        format!("0{version}"),
        "\"x\"".to_owned(),
        "\"\"".to_owned(),
        String::new(),
        "**".to_owned(),
        "9223372036854775808".to_owned(),
        "x".repeat(10_000),
    ] {
        let reply = send(put("Elsewhere 1").header("If-Match", &refused)).await;
        assert_eq!(
            (reply.status, reply.code()),
            (400, "malformed_request"),
            "{refused}"
        );
    }
    let two = put("Elsewhere 1")
        .header("If-Match", &version)
        .header("If-Match", &version);
    assert_eq!(send(two).await.code(), "malformed_request");
    for old in ["\"0\"", "\"-1\"", "99"] {
        let reply = send(put("Elsewhere 1").header("If-Match", old)).await;
        assert_eq!(
            (reply.status, reply.code()),
            (412, "version_conflict"),
            "{old}"
        );
    }

    let quoted = send(put("Elsewhere 1").header("If-Match", format!("\"{version}\""))).await;
    let any = send(put("Elsewhere 2").header("If-Match", "*")).await;

    assert_eq!((quoted.status, any.status), (200, 200));
}

#[actix_web::test]
async fn only_plain_json_is_read() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]).to_string();
    let key = ann.token().await;
    let place = || {
        let request = ann.request(Method::POST, "/api/orders").body(body.clone());
        request.header("Idempotency-Key", &key)
    };
    let typed = |kind: &str| place().header("Content-Type", kind);
    for request in [
        place(),
        typed(""),
        typed("text/plain"),
        typed("application/x-www-form-urlencoded"),
        typed("multipart/form-data; boundary=x"),
        typed("application/jsonx"),
        typed("application/vnd.api+json"),
        typed("application/merge-patch+json"),
        typed("application"),
        typed("application/json, text/plain"),
        typed("application/json").header("Content-Encoding", "gzip"),
        typed("application/json").header("Content-Encoding", "br, identity"),
    ] {
        let reply = send(request).await;
        assert_eq!(
            (reply.status, reply.code()),
            (415, "unsupported_media_type")
        );
    }

    let unusual = typed("Application/JSON ; charset=utf-8").header("Content-Encoding", "identity");
    assert!(!send(unusual).await.expect(201).is_replay());
}

//! Bearer tokens: who signs in with what, and what is no proof of anybody.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::send;
use crate::support::{Client, Reply, Shop, order};

/// What the shops of tests sign with.
const SECRET: &str = "development-only-jwt-secret-not-for-production";

#[actix_web::test]
async fn claims_that_name_nobody_let_nobody_in() {
    let shop = Shop::open().await;
    let now = shop.app.clock.now().timestamp();
    let later = now + 60;
    for claims in [
        json!({ "sub": "ann", "role": "customer", "exp": now }),
        json!({ "sub": "ann", "role": "customer", "exp": now - 1 }),
        json!({ "sub": "ann", "role": "customer", "exp": -1 }),
        json!({ "sub": "ann", "role": "customer", "exp": later.to_string() }),
        json!({ "sub": "ann", "role": "customer" }),
        json!({ "sub": "ann", "role": "customer", "exp": later, "nbf": now + 1 }),
        json!({ "sub": "ann", "exp": later }),
        json!({ "sub": "ann", "role": "admin", "exp": later }),
        json!({ "sub": "ann", "role": "Customer", "exp": later }),
        json!({ "sub": "ann", "role": ["customer", "operator"], "exp": later }),
        json!({ "sub": "ann", "role": null, "exp": later }),
        json!({ "role": "customer", "exp": later }),
        json!({ "sub": "", "role": "customer", "exp": later }),
        json!({ "sub": "a".repeat(65), "role": "customer", "exp": later }),
        json!({ "sub": "é".repeat(33), "role": "customer", "exp": later }),
        json!({ "sub": "an\u{0}n", "role": "customer", "exp": later }),
        json!({ "sub": "an\nn", "role": "customer", "exp": later }),
        json!({ "sub": "an\u{85}n", "role": "customer", "exp": later }),
        json!({ "sub": 7, "role": "customer", "exp": later }),
        json!(["ann", "customer", later]),
        json!("ann"),
    ] {
        let reply = orders_with(&shop, &signed(&claims, Algorithm::HS256, SECRET)).await;

        assert_eq!(
            (reply.status, reply.code()),
            (401, "unauthorized"),
            "{claims}"
        );
    }
}

#[actix_web::test]
async fn claims_at_the_edges_of_what_is_allowed_let_in() {
    let shop = Shop::open().await;
    let now = shop.app.clock.now().timestamp();
    for claims in [
        json!({ "sub": "a".repeat(64), "role": "customer", "exp": now + 1 }),
        json!({ "sub": "李 雷", "role": "operator", "exp": now + 1, "nbf": now, "iat": now }),
    ] {
        let reply = orders_with(&shop, &signed(&claims, Algorithm::HS256, SECRET)).await;

        assert_eq!(reply.status, 200, "{claims}");
    }
}

#[actix_web::test]
async fn only_our_signature_by_our_algorithm_counts() {
    let shop = Shop::open().await;
    let exp = shop.app.clock.now().timestamp() + 60;
    let claims = json!({ "sub": "ann", "role": "operator", "exp": exp });
    let ours = signed(&claims, Algorithm::HS256, SECRET);
    let (signed_part, signature) = ours.rsplit_once('.').unwrap();
    let (_, payload) = signed_part.split_once('.').unwrap();
    let unsigned = |header: &str| format!("{}.{payload}", BASE64_URL_SAFE_NO_PAD.encode(header));
    for token in [
        signed(
            &claims,
            Algorithm::HS256,
            "another secret, as long as ours or longer",
        ),
        signed(&claims, Algorithm::HS384, SECRET),
        signed(&claims, Algorithm::HS512, SECRET),
        format!("{}.", unsigned(r#"{"alg":"none"}"#)),
        unsigned(r#"{"alg":"none"}"#),
        format!("{}.{signature}", unsigned(r#"{"alg":"None","typ":"JWT"}"#)),
        format!("{}.{signature}", unsigned(r#"{"alg":"RS256","typ":"JWT"}"#)),
        format!("{}.{signature}", unsigned(r#"{"typ":"JWT"}"#)),
        format!("{signed_part}."),
        signed_part.to_owned(),
        format!("{ours}."),
        format!("{ours}A"),
        String::new(),
        "..".to_owned(),
        "ot_AAAA".to_owned(),
    ] {
        let reply = orders_with(&shop, &token).await;

        assert_eq!(
            (reply.status, reply.code()),
            (401, "unauthorized"),
            "{token}"
        );
    }
    assert_eq!(orders_with(&shop, &ours).await.status, 200);
}

#[actix_web::test]
async fn a_header_that_is_not_one_bearer_token_lets_nobody_in() {
    let shop = Shop::open().await;
    let exp = shop.app.clock.now().timestamp() + 60;
    let claims = json!({ "sub": "ann", "role": "customer", "exp": exp });
    let ours = signed(&claims, Algorithm::HS256, SECRET);
    let door = shop.anonymous();
    let list = || door.request(Method::GET, "/api/orders");

    let refused = [
        send(list().header("Authorization", &ours)).await,
        send(list().header("Authorization", format!("Basic {ours}"))).await,
        send(list().header("Authorization", format!("Bearer{ours}"))).await,
        send(list().header("Authorization", format!("Bearer {ours} {ours}"))).await,
        send(list().header("Authorization", "Bearer \u{fc}ber")).await,
        send(list().bearer_auth(&ours).bearer_auth(&ours)).await,
        send(list().bearer_auth("forged").bearer_auth(&ours)).await,
        door.get(&format!("/api/orders?access_token={ours}")).await,
    ];
    let scheme = send(list().header("Authorization", format!("bEARER {ours}"))).await;

    let statuses = refused.each_ref().map(|reply| reply.status);
    assert_eq!(statuses, [401, 401, 401, 401, 401, 401, 401, 401]);
    assert_eq!(scheme.status, 200);
}

#[actix_web::test]
async fn a_refused_caller_changes_nothing_and_learns_nothing() {
    let shop = Shop::open().await;
    let id = shop
        .customer("ann")
        .buy(&order("NORMAL", &[("1", 1)]))
        .await;
    let exp = shop.app.clock.now().timestamp() + 60;
    let claims = json!({ "sub": "ann", "role": "customer", "exp": exp });
    let forger = bearer(&shop, &signed(&claims, Algorithm::HS256, "another"));

    let there = forger
        .delete(&format!("/api/orders/{id}"))
        .await
        .expect(401);
    let not_there = forger.delete("/api/orders/1").await.expect(401);

    assert_eq!(there.body, not_there.body);
    assert_eq!(shop.stock("1").await, 999);
}

#[actix_web::test]
async fn a_role_in_a_token_is_not_another_role_with_its_name() {
    let shop = Shop::open().await;
    let body = order("NORMAL", &[("1", 1)]);
    let customers = shop.customer("ann").token().await;
    let mut for_ann = body.clone();
    for_ann["user_id"] = json!("ann");

    let by_service = shop
        .service("ann")
        .place(&customers, &for_ann)
        .await
        .expect(201);
    let by_customer = shop
        .customer("ann")
        .place(&customers, &order("NORMAL", &[("2", 1)]))
        .await
        .expect(201);

    assert!(!by_customer.is_replay());
    assert_ne!(by_service.id(), by_customer.id());
}

#[actix_web::test]
async fn sign_in_gives_a_token_for_exactly_whom_it_was_asked() {
    let shop = Shop::open().await;
    let door = shop.anonymous();
    let ask = |user: &str| json!({ "user_id": user, "role": "customer" });

    let reply = door
        .post("/api/dev/sign-in", &ask("ann "))
        .await
        .expect(200);
    let long = door
        .post("/api/dev/sign-in", &ask(&"a".repeat(65)))
        .await
        .expect(422);
    let empty = door.post("/api/dev/sign-in", &ask("")).await.expect(422);

    let caller = bearer(&shop, reply.body["access_token"].as_str().unwrap());
    let id = caller.buy(&order("NORMAL", &[("1", 1)])).await;
    let path = format!("/api/orders/{id}");
    assert_eq!(caller.get(&path).await.body["user_id"], "ann ");
    shop.customer("ann").get(&path).await.expect(404);
    assert_eq!(
        (long.code(), empty.code()),
        ("invalid_fields", "invalid_fields")
    );
}

fn signed(claims: &Value, algorithm: Algorithm, secret: &str) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    jsonwebtoken::encode(&Header::new(algorithm), claims, &key).unwrap()
}

fn bearer(shop: &Shop, token: &str) -> Client {
    Client::new(&shop.base, Some(token.to_owned()))
}

async fn orders_with(shop: &Shop, token: &str) -> Reply {
    bearer(shop, token).get("/api/orders").await
}

//! What operators see: metrics that name the layer, health, and a log that tells nobody's secrets.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use chrono::TimeDelta;
use order_service::domain::order_flow::Move;
use reqwest::Method;
use serde_json::json;

use crate::support::client::send;
use crate::support::shop::Place;
use crate::support::{Client, Shop, order};

#[actix_web::test]
async fn a_repeat_is_counted_at_the_layer_that_caught_it() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let (key, body) = (ann.token().await, order("NORMAL", &[("1", 1)]));
    let id = ann.place(&key, &body).await.expect(201).id();

    ann.place("forged", &body).await.expect(400);
    ann.place(&key, &body).await.expect(201);
    ann.place(&ann.token().await, &body).await.expect(409);
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);
    let before = numbers(&shop).await;
    let shop = shop.restarted_without_memory().await;
    shop.customer("ann").place(&key, &body).await.expect(201);
    let after = numbers(&shop).await;

    assert_eq!(
        intercepts(&before),
        [
            r#"{layer="gate",operation="create_order"} 1"#,
            r#"{layer="order_unique",operation="create_order"} 1"#,
            r#"{layer="state_machine",operation="cancel_order"} 1"#,
            r#"{layer="token",operation="create_order"} 1"#,
        ]
    );
    assert_eq!(
        intercepts(&after),
        [r#"{layer="idempotency_record",operation="create_order"} 1"#]
    );
}

#[actix_web::test]
async fn what_is_no_repeat_is_not_counted() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let body = order("NORMAL", &[("1", 1)]);
    let paid = ann.buy(&body).await;
    shop.simulate(&paid, &[Move::Pay]).await;
    let expired = ann.token().await;
    shop.advance(TimeDelta::minutes(30));

    ann.delete(&format!("/api/orders/{paid}")).await.expect(409);
    ann.delete("/api/orders/1").await.expect(204);
    ann.place(&expired, &body).await.expect(410);
    ann.post("/api/orders", &body).await.expect(400);
    ann.buy(&order("NORMAL", &[("2", 1)])).await;

    assert_eq!(intercepts(&numbers(&shop).await), Vec::<String>::new());
}

#[actix_web::test]
async fn requests_are_timed_by_door_and_never_by_what_a_client_chose() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    ann.get(&format!("/api/orders/{id}")).await.expect(200);
    ann.get("/api/orders/7?status=PAID").await.expect(404);
    for path in [
        "/api/secret-1",
        "/secret-2.html",
        "/docs/secret-3",
        "/api/orders/secret-4",
    ] {
        ann.get(path).await.expect(404);
    }
    for method in ["SECRET5", "secret-6", "BREW"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        send(ann.request(method, "/api/orders")).await.expect(405);
    }

    let numbers = numbers(&shop).await;

    assert!(numbers.contains(
        r#"http_request_seconds_count{method="GET",route="/api/orders/{id}",status="200"} 1"#
    ));
    assert!(numbers.contains(
        r#"http_request_seconds_count{method="GET",route="/api/orders/{id}",status="404"} 2"#
    ));
    assert!(numbers.contains(
        r#"http_request_seconds_count{method="other",route="/api/orders",status="405"} 3"#
    ));
    for chosen in ["secret", "SECRET", "BREW", &id, "ann"] {
        assert!(!numbers.contains(chosen), "{chosen} in {numbers}");
    }
}

#[actix_web::test]
async fn the_numbers_that_an_operator_watches_are_there_from_the_start() {
    let shop = Shop::open().await;

    let reply = send(shop.anonymous().request(Method::GET, "/metrics"))
        .await
        .expect(200);
    let numbers = numbers(&shop).await;

    assert_eq!(
        reply.header("Content-Type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    for name in [
        "lock_wait_seconds",
        "lock_timeouts_total",
        "lock_renewals_total",
        "lock_lost_total",
        "redis_errors_total",
        "redis_fallbacks_total",
        "redis_breaker_open",
        "database_transactions",
        "bulkhead_queue",
        "bulkhead_refusals_total",
        "database_transaction_retries_total",
        "database_transaction_seconds",
        "events_published_total",
        "event_publish_failures_total",
        "outbox_events",
        "outbox_lag_seconds",
        "failing_messages",
        "dead_messages",
        "parked_callbacks",
        "open_alerts",
        "event_bus_reachable",
        "event_bus_blocked",
        "database_trouble",
        "database_connection_limit",
    ] {
        assert!(
            numbers.contains(&format!("# TYPE {name} ")),
            "{name} is not there"
        );
    }
}

#[actix_web::test]
async fn an_instance_is_ready_as_long_as_its_database_answers() {
    let shop = Shop::open().await;
    let door = shop.anonymous();
    let ready = door.get("/readyz").await.expect(200);

    shop.app.db.close().await;
    let down = door.get("/readyz").await.expect(503);
    let alive = door.get("/healthz").await.expect(200);

    assert_eq!(
        ready.body,
        json!({
            "status": "ready", "database": "ready", "ids": "ready", "redis": "ready",
            "event_bus": "ready", "reasons": {}
        })
    );
    assert_eq!(
        (&down.body["status"], &down.body["database"]),
        (&json!("down"), &json!("down"))
    );
    assert_eq!(down.body["reasons"], json!({ "database": "unreachable" }));
    assert_eq!(alive.body, json!({ "status": "ok" }));
}

#[actix_web::test]
async fn the_log_shows_no_token_no_address_and_no_key_at_any_level() {
    let place = Place::fresh().await;
    let (server, base) = Logged::start(&place);
    let asked = json!({ "user_id": "ann-the-customer", "role": "customer" });
    let signed_in = Client::new(&base, None)
        .post("/api/dev/sign-in", &asked)
        .await
        .expect(200);
    let bearer = signed_in.body["access_token"].as_str().unwrap().to_owned();
    let ann = Client::new(&base, Some(bearer.clone()));
    let (key, mut body) = (ann.token().await, order("FLASH_SALE", &[("1", 1)]));
    let id = ann.place(&key, &body).await.expect(201).id();
    ann.place(&key, &body).await.expect(201);
    ann.place("my-private-key", &body).await.expect(400);
    body["address"]["phone"] = json!("call 0571-7654321");
    ann.place(&key, &body).await.expect(422);
    body["items"] = json!("Rosenweg 7");
    ann.place(&key, &body).await.expect(400);
    ann.put(
        &format!("/api/orders/{id}/address"),
        &order("NORMAL", &[])["address"],
        None,
    )
    .await
    .expect(200);
    ann.get("/api/orders?status=Rosenweg").await.expect(400);
    ann.delete(&format!("/api/orders/{id}")).await.expect(204);

    let log = server.stop();

    let signature = bearer.rsplit_once('.').unwrap().1.to_owned();
    for secret in [
        key.as_str(),
        &bearer,
        &signature,
        "my-private-key",
        "Ann Li",
        "1234567",
        "7654321",
        "West Lake",
        "Rosenweg",
        "Hangzhou",
        "development-only",
    ] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "shows {secret}");
    }
    assert!(log.contains("listening at"), "{log}");
}

/// A running binary that logs all it can.
struct Logged {
    child: Child,
    log: JoinHandle<String>,
}

impl Logged {
    fn start(place: &Place) -> (Self, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_order-service"))
            .env("ORDER_PROFILE", "test")
            .env("RUST_LOG", "trace")
            .envs(place.environment())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let mut seen = String::new();
        let base = loop {
            let line = lines.next().expect("a line that says where it listens");
            seen.push_str(&line);
            seen.push('\n');
            if let Some((_, address)) = line.split_once("listening at ") {
                break address.to_owned();
            }
        };
        let log = std::thread::spawn(move || lines.fold(seen, |log, line| log + &line + "\n"));
        (Self { child, log }, base)
    }

    /// Ends it, and gives all that it said.
    fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.log.join().unwrap()
    }
}

async fn numbers(shop: &Shop) -> String {
    let request = shop.anonymous().request(Method::GET, "/metrics");
    request.send().await.unwrap().text().await.unwrap()
}

fn intercepts(numbers: &str) -> Vec<String> {
    let lines = numbers
        .lines()
        .filter_map(|line| line.strip_prefix("idempotency_intercepts_total"));
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

//! What an attacker tries from outside: requests in requests, endless bodies, files beyond the site, crowds of sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::support::client::send;
use crate::support::{Shop, order};

/// A second request that must never be answered where it hides in a first one.
const HIDDEN: &str = "GET /healthz HTTP/1.1\r\nHost: hidden\r\n\r\n";
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

#[actix_web::test]
async fn a_request_that_two_servers_would_end_at_two_places_is_refused() {
    let shop = Shop::open().await;
    for head in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 39\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 0, 0\r\n\r\n",
        "Content-Length: +0\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 0x0\r\n\r\n",
        "Content-Length: 18446744073709551616\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "X-Nothing: a\0b\r\n\r\n",
        "Host: another\r\n\r\n",
    ] {
        let request = format!("POST /api/orders HTTP/1.1\r\nHost: shop\r\n{head}{HIDDEN}");

        let answer = said_to(&shop, request.clone()).await;

        assert!(answer.starts_with("HTTP/1.1 400 "), "{head:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{head:?}: {answer}");
    }
    shop.anonymous().get("/healthz").await.expect(200);
}

#[actix_web::test]
async fn heads_beyond_every_measure_are_refused() {
    let shop = Shop::open().await;
    let many = "X-Many: a\r\n".repeat(500);
    for request in [
        format!(
            "GET /{} HTTP/1.1\r\nHost: shop\r\n\r\n",
            "a".repeat(200_000)
        ),
        format!(
            "GET / HTTP/1.1\r\nHost: shop\r\nX: {}\r\n\r\n",
            "a".repeat(200_000)
        ),
        format!("GET / HTTP/1.1\r\nHost: shop\r\n{many}\r\n"),
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "GET /\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "CONNECT example.com:443 HTTP/1.1\r\nHost: shop\r\n\r\n".to_owned(),
    ] {
        let answer = said_to(&shop, request.clone()).await;

        let shown = &request[..request.len().min(60)];
        assert!(answer.starts_with("HTTP/1.1 4"), "{shown:?}: {answer}");
    }
    shop.anonymous().get("/healthz").await.expect(200);
}

#[actix_web::test]
async fn a_chunked_body_ends_at_64_kib_too() {
    let shop = Shop::open().await;
    let (ann, bearer) = (shop.customer("ann"), bearer_of_ann(&shop).await);
    let body = order("NORMAL", &[("1", 1)]).to_string();
    let padded = |length: usize| format!("{body}{}", " ".repeat(length - body.len()));
    let mut answers = Vec::new();

    for length in [65_536, 65_537, 1_000_000] {
        let mut request = head_of(&ann.token().await, &bearer, "Transfer-Encoding: chunked");
        for chunk in padded(length).as_bytes().chunks(1_000) {
            let text = std::str::from_utf8(chunk).unwrap();
            request += &[&format!("{:x}", chunk.len()), text, ""].join("\r\n");
        }
        request.push_str("0\r\n\r\n");
        answers.push(said_to(&shop, request.clone()).await);
    }

    let statuses: Vec<&str> = answers.iter().map(|answer| &answer[9..12]).collect();
    assert_eq!(statuses, ["201", "413", "413"]);
    assert!(answers[1].contains("body_too_large"), "{}", answers[1]);
}

#[actix_web::test]
async fn a_body_that_breaks_off_or_makes_no_sense_buys_nothing() {
    let shop = Shop::open().await;
    let (ann, bearer) = (shop.customer("ann"), bearer_of_ann(&shop).await);
    let body = order("NORMAL", &[("1", 1)]).to_string();
    for (ending, sent) in [
        (format!("Content-Length: {}", body.len() + 1), body.clone()),
        (
            format!("Content-Length: {}", body.len()),
            body[..20].to_owned(),
        ),
        (format!("Content-Length: {}", body.len() - 1), body.clone()),
        (
            "Transfer-Encoding: chunked".to_owned(),
            format!("{:x}\r\n{body}\r\n", body.len()),
        ),
        (
            "Transfer-Encoding: chunked".to_owned(),
            format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len() + 9),
        ),
        (
            "Transfer-Encoding: chunked".to_owned(),
            format!("+{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        ),
        (
            "Transfer-Encoding: chunked".to_owned(),
            format!("FFFFFFFFFFFFFFFFF\r\n{body}\r\n0\r\n\r\n"),
        ),
    ] {
        let request = head_of(&ann.token().await, &bearer, &ending) + &sent;

        let answer = broken_off(&shop, request).await;

        assert!(
            !answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"),
            "{answer}"
        );
    }
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 0);
    ann.buy(&order("NORMAL", &[("1", 1)])).await;
}

#[actix_web::test]
async fn the_site_ends_at_its_own_files() {
    let shop = Shop::open().await;
    for path in [
        "/../Cargo.toml.json",
        "/../tests/e2e/package.json",
        "/..%2ftests/e2e/package.json",
        "/%2e%2e/tests/e2e/package.json",
        "/%2e%2e%2ftests%2fe2e%2fpackage.json",
        "/..%5ctests%5ce2e%5cpackage.json",
        "/js/../../tests/e2e/package.json",
        "/js/..%2f..%2ftests/e2e/package.json",
        "/....//tests/e2e/package.json",
        "//etc/hostname.json",
        "/%2fetc/hostname.json",
        "/index.html%00.json",
        "/index.html/",
        "/docs/../Cargo.toml",
        "/docs/..%2f..%2fCargo.toml",
        "/static/index.html",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");

        let answer = said_to(&shop, request.clone()).await;

        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
    }
}

#[actix_web::test]
async fn pages_of_other_origins_are_told_nothing() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let preflight = ann
        .request(Method::OPTIONS, "/api/orders")
        .header("Origin", "https://shop.example")
        .header("Access-Control-Request-Method", "POST");
    let read = ann
        .request(Method::GET, "/api/orders")
        .header("Origin", "null");

    for reply in [
        send(preflight).await.expect(405),
        send(read).await.expect(200),
    ] {
        let names = reply.headers.keys().map(|name| name.as_str().to_owned());
        let allowing: Vec<String> = names
            .filter(|name| name.starts_with("access-control"))
            .collect();
        assert!(allowing.is_empty(), "{allowing:?}");
        assert!(!reply.headers.contains_key("set-cookie"));
    }
}

#[actix_web::test]
async fn a_crowd_of_silent_sockets_keeps_nobody_out() {
    let shop = Shop::open().await;
    let (ann, bearer) = (shop.customer("ann"), bearer_of_ann(&shop).await);
    let address = shop.base.trim_start_matches("http://");
    let head = head_of("key", &bearer, "Content-Length: 100");
    let crowd: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut socket = TcpStream::connect(address).unwrap();
            socket.write_all(head.as_bytes()).unwrap();
            socket
        })
        .collect();

    ann.buy(&order("NORMAL", &[("1", 1)])).await;

    let is_waiting = |mut socket: &TcpStream| {
        socket.set_nonblocking(true).unwrap();
        let answer = socket.read(&mut [0]);
        answer.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    assert!(crowd.iter().all(is_waiting), "served once others had gone");
}

async fn bearer_of_ann(shop: &Shop) -> String {
    let ask = json!({ "user_id": "ann", "role": "customer" });
    let reply = shop
        .anonymous()
        .post("/api/dev/sign-in", &ask)
        .await
        .expect(200);
    reply.body["access_token"].as_str().unwrap().to_owned()
}

/// The head of a creation whose body ends as `ending` says.
fn head_of(key: &str, bearer: &str, ending: &str) -> String {
    format!(
        "POST /api/orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nAuthorization: Bearer {bearer}\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\n{ending}\r\n\r\n"
    )
}

/// Sends bytes as they are; all that comes back until the server closes.
async fn said_to(shop: &Shop, request: String) -> String {
    exchange(shop, request, false).await
}

/// The same from a client that hangs up after its last byte.
async fn broken_off(shop: &Shop, request: String) -> String {
    exchange(shop, request, true).await
}

async fn exchange(shop: &Shop, request: String, hang_up: bool) -> String {
    let address = shop.base.trim_start_matches("http://").to_owned();
    let talk = move || {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has heard enough closes before we have said all.
        let _ = socket.write_all(request.as_bytes());
        if hang_up {
            let _ = socket.shutdown(Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

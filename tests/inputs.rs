//! What nobody should send: each is a 4xx problem, nothing is bought, and the server goes on answering.

use reqwest::Method;
use serde_json::json;

use crate::fields::changed;
use crate::support::client::send;
use crate::support::{Client, Reply, Shop, order};

/// As a client's text it must not come back, and as an address it must not go further.
const PRIVATE: &str = "Rosenweg 7, Frau Schmidt-Hohenstein";

#[actix_web::test]
async fn a_body_that_is_no_json_of_the_right_shape_is_malformed() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let good = order("NORMAL", &[("1", 1)]).to_string();
    let deep = |open: &str, close: &str| open.repeat(5_000) + &close.repeat(5_000);
    let bodies: Vec<Vec<u8>> = [
        "",
        " ",
        "null",
        "[]",
        "7",
        "true",
        "\"order\"",
        "{}",
        "{",
        "{\"items\"}",
        "NaN",
        "// nothing\n{}",
        &good[..good.len() - 1],
        &format!("{good}x"),
        &format!("{good}{good}"),
        &format!("[{good}]"),
        &format!("\u{feff}{good}"),
        &deep("[", "]"),
        &deep("{\"items\":", "}"),
        &good.replace("\"items\":[", &format!("\"items\":[{},", deep("[", "]"))),
        &good.replacen('{', "{\"order_type\":\"NORMAL\",", 1),
        &good.replace("\"quantity\":1", "\"quantity\":1,\"quantity\":2"),
        &good.replace(
            "\"country\":\"CN\"",
            "\"country\":\"CN\",\"country\":\"DE\"",
        ),
        &good.replace(
            "\"items\":",
            "\"items\":[{\"product_id\":\"2\",\"quantity\":1}],\"items\":",
        ),
        &good.replace("Ann Li", "\\ud800"),
        &good.replace("Ann Li", "\\udfff\\ud800"),
        &good.replace("Ann Li", "Ann\nLi"),
        &good.replace("Ann Li", "Ann\u{0}Li"),
        &good.replace('"', "'"),
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([
        replaced(&good, "Ann Li", b"\xff\xfe"),
        replaced(&good, "Ann Li", b"\xed\xa0\x80"),
        replaced(&good, "Ann Li", b"\xc0\xaf"),
        good.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ])
    .collect();

    for body in bodies {
        let reply = post(&ann, body.clone()).await;

        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        assert_eq!(
            (reply.status, reply.code()),
            (400, "malformed_request"),
            "{shown}"
        );
        assert!(
            reply.body["detail"].as_str().unwrap().len() < 300,
            "{shown}"
        );
    }
    assert_nothing_was_bought(&shop).await;
}

#[actix_web::test]
async fn a_message_never_repeats_what_the_client_sent() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let long = "x".repeat(5_000);
    for text in [
        PRIVATE,
        long.as_str(),
        "\", expected `",
        "`, expected one of `",
    ] {
        let named = json!({ text: 1 });
        let mut unknown = order("NORMAL", &[("1", 1)]);
        unknown["address"][text] = json!(1);
        let replies = [
            ann.place(
                &ann.token().await,
                &changed("/items/0/quantity", &json!(text)),
            )
            .await,
            ann.place(&ann.token().await, &changed("/order_type", &json!(text)))
                .await,
            ann.place(&ann.token().await, &changed("/address", &json!(text)))
                .await,
            ann.place(
                &ann.token().await,
                &changed("/address/country", &json!(text)),
            )
            .await,
            ann.place(&ann.token().await, &unknown).await,
            ann.put("/api/orders/1/address", &named, None).await,
            shop.operator().put("/api/products/1", &named, None).await,
            ann.get(&format!("/api/orders?status={}", escaped(text)))
                .await,
            ann.get(&format!("/api/orders?limit={}", escaped(text)))
                .await,
            ann.get(&format!("/api/orders?cursor={}", escaped(text)))
                .await,
            ann.get(&format!("/api/orders?{}=1", escaped(text))).await,
        ];

        for reply in replies {
            let said = reply.body.to_string();
            assert!((400..500).contains(&reply.status), "{said}");
            assert!(
                !said.contains(text.trim_matches('"')) && said.len() < 700,
                "{said}"
            );
        }
    }
}

pub async fn assert_nothing_was_bought(shop: &Shop) {
    shop.anonymous().get("/readyz").await.expect(200);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders").await, 0);
    assert_eq!(shop.stock("1").await, 1_000);
}

async fn post(caller: &Client, body: Vec<u8>) -> Reply {
    let request = caller.request(Method::POST, "/api/orders").body(body);
    let request = request.header("Content-Type", "application/json");
    send(request.header("Idempotency-Key", caller.token().await)).await
}

fn replaced(text: &str, from: &str, to: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once(from).unwrap();
    [before.as_bytes(), to, after.as_bytes()].concat()
}

fn escaped(text: &str) -> String {
    let bytes = text.bytes().map(|byte| format!("%{byte:02X}"));
    bytes.collect::<Vec<_>>().concat()
}

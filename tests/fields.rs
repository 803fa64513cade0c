//! The fields of an order: each wrong kind is malformed, each wrong value is named, and nothing is bought.

use serde_json::{Value, json};

use crate::inputs::assert_nothing_was_bought;
use crate::support::client::address;
use crate::support::{Shop, order};

#[actix_web::test]
async fn a_field_of_a_wrong_kind_or_name_is_malformed() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let huge: Value = serde_json::from_str("99999999999999999999").unwrap();
    for (field, value) in [
        ("/order_type", json!("normal")),
        ("/order_type", json!(1)),
        ("/order_type", json!(null)),
        ("/items", json!({ "product_id": "1", "quantity": 1 })),
        ("/items", json!("1")),
        ("/items/0", json!(["1", 1])),
        ("/items/0/product_id", json!(1)),
        ("/items/0/product_id", json!("")),
        ("/items/0/product_id", json!(" 1")),
        ("/items/0/product_id", json!("+1")),
        ("/items/0/product_id", json!("01")),
        ("/items/0/product_id", json!("-0")),
        ("/items/0/product_id", json!("-1")),
        ("/items/0/product_id", json!("0x1")),
        ("/items/0/product_id", json!("1.0")),
        ("/items/0/product_id", json!("one")),
        ("/items/0/product_id", json!("١")),
        ("/items/0/product_id", json!("9223372036854775808")),
        ("/items/0/quantity", json!("1")),
        ("/items/0/quantity", json!(1.0)),
        ("/items/0/quantity", json!(1.5)),
        ("/items/0/quantity", json!(1e0)),
        ("/items/0/quantity", huge.clone()),
        ("/items/0/quantity", json!(true)),
        ("/items/0/quantity", json!(null)),
        ("/items/0/quantity", json!([1])),
        ("/items/0/colour", json!("red")),
        ("/address", json!("West Lake Road 1")),
        ("/address", json!([])),
        ("/address/line1", json!(7)),
        ("/address/line3", json!("attic")),
        ("/expected_amount", json!("12800")),
        ("/expected_amount", json!(12_800.5)),
        ("/expected_amount", huge),
        ("/user_id", json!(7)),
        ("/status", json!("PAID")),
        ("/amount", json!(1)),
        ("/id", json!("7")),
        ("/idempotency_key", json!(7)),
        ("/idempotency_key", json!({ "key": "a" })),
    ] {
        let reply = ann.place(&ann.token().await, &changed(field, &value)).await;

        assert_eq!(
            (reply.status, reply.code()),
            (400, "malformed_request"),
            "{field} {value}"
        );
    }
    assert_nothing_was_bought(&shop).await;
}

#[actix_web::test]
async fn a_value_that_cannot_be_used_is_named() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let items = |count: i64| {
        json!(
            (1..=count)
                .map(|id| json!({ "product_id": id.to_string(), "quantity": 1 }))
                .collect::<Vec<_>>()
        )
    };
    for (field, value, named) in [
        ("/items", json!([]), "items"),
        ("/items", items(21), "items"),
        (
            "/items",
            json!([{ "product_id": "1", "quantity": 1 }, { "product_id": "1", "quantity": 2 }]),
            "items[1].product_id",
        ),
        ("/items/0/product_id", json!("0"), "items[0].product_id"),
        (
            "/items/0/product_id",
            json!(i64::MAX.to_string()),
            "items[0].product_id",
        ),
        ("/items/0/quantity", json!(0), "items[0].quantity"),
        ("/items/0/quantity", json!(-1), "items[0].quantity"),
        ("/items/0/quantity", json!(1_001), "items[0].quantity"),
        ("/items/0/quantity", json!(i64::MAX), "items[0].quantity"),
        ("/items/0/quantity", json!(i64::MIN), "items[0].quantity"),
        ("/expected_amount", json!(-1), "expected_amount"),
        ("/expected_amount", json!(i64::MAX), "expected_amount"),
        ("/user_id", json!("ann"), "user_id"),
        ("/address/recipient", json!(""), "address.recipient"),
        (
            "/address/recipient",
            json!(" \u{3000}\u{a0}"),
            "address.recipient",
        ),
        (
            "/address/recipient",
            json!("a".repeat(101)),
            "address.recipient",
        ),
        (
            "/address/recipient",
            json!("Ann\u{0}Li"),
            "address.recipient",
        ),
        ("/address/recipient", json!("Ann\nLi"), "address.recipient"),
        (
            "/address/recipient",
            json!("Ann\u{7f}"),
            "address.recipient",
        ),
        ("/address/region", json!("\u{85}a"), "address.region"),
        ("/address/region", json!("a\u{2028}b"), "address.region"),
        ("/address/city", json!("gnp.\u{202e}moc"), "address.city"),
        ("/address/city", json!("a\u{2066}b"), "address.city"),
        ("/address/city", json!("\u{feff}"), "address.city"),
        ("/address/city", json!("\u{200b}\u{2060}"), "address.city"),
        ("/address/line1", json!("é".repeat(201)), "address.line1"),
        ("/address/line2", json!(""), "address.line2"),
        ("/address/country", json!("cn"), "address.country"),
        ("/address/country", json!("CHN"), "address.country"),
        ("/address/country", json!("ÀÀ"), "address.country"),
        ("/address/phone", json!("+-()     "), "address.phone"),
        (
            "/address/phone",
            json!("1234567890123456789012"),
            "address.phone",
        ),
        (
            "/address/phone",
            json!("0571-１２３４５６"),
            "address.phone",
        ),
        (
            "/address/postal_code",
            json!("3100\t00"),
            "address.postal_code",
        ),
        ("/address/postal_code", json!("  "), "address.postal_code"),
    ] {
        let reply = ann.place(&ann.token().await, &changed(field, &value)).await;

        assert_eq!(
            (reply.status, reply.code()),
            (422, "invalid_fields"),
            "{field} {value}"
        );
        assert_eq!(reply.body["errors"][0]["field"], named, "{}", reply.body);
    }
    assert_nothing_was_bought(&shop).await;
}

#[actix_web::test]
async fn every_wrong_field_is_named_at_once() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let mut body = changed("/items/0/quantity", &json!(0));
    body["address"]["country"] = json!("cn");
    body["address"]["phone"] = json!("call me");

    let reply = ann.place(&ann.token().await, &body).await.expect(422);

    let errors = reply.body["errors"].as_array().unwrap();
    let fields: Vec<&str> = errors
        .iter()
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        fields,
        ["address.country", "address.phone", "items[0].quantity"]
    );
}

#[actix_web::test]
async fn the_longest_that_is_allowed_is_kept_as_it_came() {
    let shop = Shop::open().await;
    let ann = shop.customer("ann");
    let mut body = changed("/address/recipient", &json!("é".repeat(100)));
    body["address"]["line1"] = json!("𝄞".repeat(200));
    body["address"]["line2"] =
        json!("\u{5e9}\u{200f} \u{645}\u{200c}\u{647} <b>'\"; DROP TABLE orders; --");
    body["address"]["postal_code"] = json!("SW1A 1AA-1234567");
    body["items"][0]["quantity"] = json!(1_000);

    let placed = ann.place(&ann.token().await, &body).await.expect(201);

    let read = ann.get(&format!("/api/orders/{}", placed.id())).await;
    assert_eq!(read.body["address"], body["address"]);
}

#[actix_web::test]
async fn a_service_names_a_customer_who_could_sign_in() {
    let shop = Shop::open().await;
    let program = shop.service("back-office");
    for user in [
        json!(null),
        json!(""),
        json!("a".repeat(65)),
        json!("é".repeat(33)),
        json!("an\u{0}n"),
        json!("an\u{85}n"),
    ] {
        let reply = program.place("key", &changed("/user_id", &user)).await;

        assert_eq!(
            (reply.status, reply.code()),
            (422, "invalid_fields"),
            "{user}"
        );
        assert_eq!(reply.body["errors"][0]["field"], "user_id");
    }
    let longest = json!("é".repeat(32));
    let placed = program.place("key", &changed("/user_id", &longest)).await;
    assert_eq!(placed.expect(201).body["user_id"], longest);
}

/// A good order with one field set otherwise.
pub fn changed(field: &str, value: &Value) -> Value {
    let mut body = order("NORMAL", &[("1", 1)]);
    body["address"] = address("West Lake Road 1");
    let (parent, name) = field.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Array(entries) => entries[name.parse::<usize>().unwrap()] = value.clone(),
        object => object[name] = value.clone(),
    }
    body
}

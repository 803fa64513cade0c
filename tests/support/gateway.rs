//! The sandbox gateway as a test plays it: messages of its own, signed like the real ones.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use order_service::settings::Settings;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::client::{Client, Reply, order, send, try_send};
use super::shop::Shop;

/// One message, ready to be sent any number of times.
#[derive(Debug, Clone)]
pub struct Message {
    pub id: String,
    pub body: Value,
}

/// An attempt that messages are about.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub id: String,
    pub order: String,
    pub amount: i64,
}

impl Attempt {
    /// Starts a payment of `order` as `buyer`.
    pub async fn start(buyer: &Client, order: &str) -> Self {
        let path = format!("/api/orders/{order}/payments");
        let reply = buyer.post(&path, &json!({ "gateway": "sandbox" })).await;
        assert!([200, 201].contains(&reply.status), "{}", reply.body);
        let amount = reply.body["amount"].as_i64().unwrap();
        Self {
            id: reply.id(),
            order: order.to_owned(),
            amount,
        }
    }

    /// The same; `None` when the server goes away before it has answered.
    pub async fn try_start(buyer: &Client, order: &str) -> Option<Self> {
        let path = format!("/api/orders/{order}/payments");
        let request = buyer.request(Method::POST, &path);
        let sent = request.json(&json!({ "gateway": "sandbox" }));
        let reply = try_send(sent).await.ok()?;
        Some(Self {
            id: reply.id(),
            order: order.to_owned(),
            amount: reply.body["amount"].as_i64().unwrap(),
        })
    }

    /// The buyer pays at the gateway, whose messages are all lost.
    pub async fn pay_without_a_word(&self, shop: &Shop) {
        shop.execute(&format!(
            "UPDATE sandbox_payment SET status = 'PAID', trade_no = 'T{0}', paid_at = expires_at \
             WHERE payment_id = {0}",
            self.id
        ))
        .await;
    }

    pub fn paid(&self, id: &str) -> Message {
        self.message(id, "payment.succeeded", &json!({}))
    }

    pub fn closed(&self, id: &str) -> Message {
        self.message(id, "payment.closed", &json!({}))
    }

    pub fn failed(&self, id: &str) -> Message {
        self.message(id, "payment.failed", &json!({}))
    }

    pub fn refunded(&self, id: &str, refund_no: &str, amount: i64) -> Message {
        self.message(
            id,
            "refund.succeeded",
            &json!({ "refund_no": refund_no, "amount": amount }),
        )
    }

    pub fn refund_failed(&self, id: &str, refund_no: &str, amount: i64) -> Message {
        self.message(
            id,
            "refund.failed",
            &json!({ "refund_no": refund_no, "amount": amount }),
        )
    }

    /// A message of any kind with some of its data changed.
    pub fn message(&self, id: &str, kind: &str, changes: &Value) -> Message {
        let mut data = json!({
            "payment_id": self.id,
            "order_id": self.order,
            "trade_no": format!("T{}", self.id),
            "amount": self.amount,
            "currency": "CNY",
        });
        for (name, value) in changes.as_object().unwrap() {
            data[name] = value.clone();
        }
        let body = json!({ "type": kind, "timestamp": "2026-12-23T04:27:00Z", "data": data });
        Message {
            id: id.to_owned(),
            body,
        }
    }
}

impl Message {
    /// Delivers it to an instance, signed at the shop's time.
    pub async fn deliver(&self, shop: &Shop) -> Reply {
        self.deliver_signed(shop, shop.app.clock.now(), &secret(&shop.app.settings))
            .await
    }

    /// The same with another time or secret.
    pub async fn deliver_signed(&self, shop: &Shop, at: DateTime<Utc>, secret: &[u8]) -> Reply {
        let door = shop.anonymous();
        self.try_deliver(&door, at, secret).await.unwrap()
    }

    /// Fails when the server goes away before it has answered.
    pub async fn try_deliver(
        &self,
        door: &Client,
        at: DateTime<Utc>,
        secret: &[u8],
    ) -> Result<Reply, reqwest::Error> {
        try_send(self.signed(door, at, secret)).await
    }

    /// Delivers it signed, but declared as another kind of body.
    pub async fn deliver_as(&self, shop: &Shop, content_type: &str) -> Reply {
        let secret = secret(&shop.app.settings);
        let signed = self.signed(&shop.anonymous(), shop.app.clock.now(), &secret);
        let (client, request) = signed.build_split();
        let mut request = request.unwrap();
        let headers = request.headers_mut();
        headers.insert("content-type", content_type.parse().unwrap());
        try_send(reqwest::RequestBuilder::from_parts(client, request))
            .await
            .unwrap()
    }

    fn signed(&self, door: &Client, at: DateTime<Utc>, secret: &[u8]) -> reqwest::RequestBuilder {
        let body = self.body.to_string();
        let timestamp = at.timestamp();
        let signature = sign(secret, &self.id, timestamp, &body);
        door.request(Method::POST, "/api/payments/callback/sandbox")
            .header("content-type", "application/json")
            .header("webhook-id", &self.id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature)
            .body(body)
    }
}

/// An order of ann's over one piece at `price` that is paid.
pub async fn paid_order(shop: &Shop, price: i64) -> Attempt {
    let offer = json!({ "name": "Tea", "price": price, "currency": "CNY", "on_sale": true });
    shop.operator()
        .put("/api/products/1", &offer, None)
        .await
        .expect(200);
    let ann = shop.customer("ann");
    let id = ann.buy(&order("NORMAL", &[("1", 1)])).await;
    let attempt = Attempt::start(&ann, &id).await;
    assert!(accepted(&attempt.paid("evt-paid").deliver(shop).await));
    attempt
}

/// Asks for a refund under a key.
pub async fn refund(client: &Client, paid: &Attempt, key: &str, amount: i64) -> Reply {
    let body = json!({ "amount": amount, "reason": "a scratch" });
    let path = format!("/api/orders/{}/refunds", paid.order);
    let request = client.request(Method::POST, &path).json(&body);
    send(request.header("Idempotency-Key", key)).await
}

/// Standard Webhooks, written again here so that a wrong signature in the product shows.
pub fn sign(secret: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

pub fn secret(settings: &Settings) -> Vec<u8> {
    let text = settings.sandbox.secret.strip_prefix("whsec_").unwrap();
    BASE64_STANDARD.decode(text).unwrap()
}

/// Whether the gateway heard success; anything but an honest answer fails.
#[track_caller]
pub fn accepted(reply: &Reply) -> bool {
    match (reply.status, reply.code()) {
        (200, "SUCCESS") => true,
        (503, "FAIL") => false,
        _ => panic!("{} {}", reply.status, reply.body),
    }
}

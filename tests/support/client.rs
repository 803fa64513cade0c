//! A caller of the API with a bearer token of his own.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// Less than the server's keep-alive of five seconds: no request meets the end of its connection.
const IDLE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    bearer: Option<String>,
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    /// `null` when there was no JSON.
    pub body: Value,
}

impl Client {
    pub fn new(base: &str, bearer: Option<String>) -> Self {
        let http = reqwest::Client::builder().pool_idle_timeout(IDLE).build();
        Self {
            http: http.unwrap(),
            base: base.to_owned(),
            bearer,
        }
    }

    /// The same caller at another instance.
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    /// A request that the test goes on to fill.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.bearer {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn get(&self, path: &str) -> Reply {
        send(self.request(Method::GET, path)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        send(self.request(Method::DELETE, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value, seen: Option<i64>) -> Reply {
        let request = self.request(Method::PUT, path).json(body);
        send(match seen {
            Some(version) => request.header("If-Match", format!("\"{version}\"")),
            None => request,
        })
        .await
    }

    /// A new order token.
    pub async fn token(&self) -> String {
        let reply = send(self.request(Method::POST, "/api/order-tokens"))
            .await
            .expect(201);
        reply.body["token"].as_str().unwrap().to_owned()
    }

    pub async fn place(&self, key: &str, order: &Value) -> Reply {
        self.try_place(key, order).await.unwrap()
    }

    /// Fails when the server goes away before it has answered.
    pub async fn try_place(&self, key: &str, order: &Value) -> Result<Reply, reqwest::Error> {
        let request = self.request(Method::POST, "/api/orders").json(order);
        try_send(request.header("Idempotency-Key", key)).await
    }

    /// Places an order with a new token; it must succeed.
    pub async fn buy(&self, order: &Value) -> String {
        let key = self.token().await;
        self.place(&key, order).await.expect(201).id()
    }
}

impl Reply {
    /// The reply itself, when the status is the expected one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The problem's code; empty when it is no problem.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// The id of what came back.
    #[track_caller]
    pub fn id(&self) -> String {
        self.body["id"]
            .as_str()
            .unwrap_or_else(|| panic!("no id in {}", self.body))
            .to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn is_replay(&self) -> bool {
        self.header("Idempotency-Replayed") == Some("true")
    }
}

/// Sends, and reads the answer to its end.
pub async fn send(request: RequestBuilder) -> Reply {
    try_send(request).await.unwrap()
}

pub async fn try_send(request: RequestBuilder) -> Result<Reply, reqwest::Error> {
    let response = request.send().await?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let bytes = response.bytes().await?;
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Reply {
        status,
        headers,
        body,
    })
}

/// The body of an order: product ids with quantities.
pub fn order(order_type: &str, items: &[(&str, i64)]) -> Value {
    let items: Vec<Value> = items
        .iter()
        .map(|(product, quantity)| json!({ "product_id": product, "quantity": quantity }))
        .collect();
    json!({ "order_type": order_type, "items": items, "address": address("West Lake Road 1") })
}

/// A valid address with this first line.
pub fn address(line1: &str) -> Value {
    json!({
        "recipient": "Ann Li",
        "phone": "+86 571 1234567",
        "country": "CN",
        "region": "Zhejiang",
        "city": "Hangzhou",
        "line1": line1,
        "postal_code": "310000",
    })
}

//! Every door that says success, as one request that may be sent any number of times through a connection that fails.

use std::sync::Arc;

use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::support::client::{address, send};
use crate::support::entrance::eventually_within;
use crate::support::faults::{PATIENCE, asks_to_repeat};
use crate::support::gateway::{Attempt, Message, accepted, refund};
use crate::support::shop::{Place, manual_clock};
use crate::support::sql_proxy::SqlProxy;
use crate::support::{Client, Reply, Shop, order};

/// Two instances on one database: one reaches it as ever, the other through what the test makes fail. Their gates do
/// not know of each other.
pub struct Pair {
    pub healthy: Shop,
    pub faulty: Shop,
    pub proxy: SqlProxy,
}

impl Pair {
    pub async fn open(changes: &[(&str, &str)]) -> Self {
        let place = Arc::new(Place::fresh().await);
        let mut urls = place.overrides.iter();
        let (_, url) = urls.find(|(key, _)| key == "database.url").unwrap();
        let proxy = SqlProxy::before(url).await;
        let healthy = Shop::open_at(Arc::clone(&place), manual_clock(), &[]).await;
        let prefix = format!("{}:", Uuid::new_v4().simple());
        let own = [
            ("database.url", proxy.url()),
            ("redis.key_prefix", prefix.as_str()),
        ];
        let clock = healthy.app.clock.clone();
        let faulty = Shop::open_at(place, clock, &[&own, changes].concat()).await;
        // Takes the node number, which is no part of what is tried.
        faulty.customer("first").token().await;
        Self {
            healthy,
            faulty,
            proxy,
        }
    }

    /// Fails unless the next requests are served, the instance says that it is ready, and nothing happened twice.
    pub async fn assert_is_well(&self) {
        let next = self.faulty.customer(&Uuid::new_v4().simple().to_string());
        let id = next.buy(&order("NORMAL", &[("2", 1)])).await;
        next.get(&format!("/api/orders/{id}")).await.expect(200);
        self.faulty.anonymous().get("/readyz").await.expect(200);
        self.healthy.assert_audit_is_clean().await;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Order,
    /// A creation that was answered before, and the instance knows.
    Replay,
    /// The same where the instance does not know: the database tells it.
    Repeat,
    Payment,
    Callback,
    Refund,
    Shipment,
    Receipt,
    Cancellation,
    Address,
}

/// Those that change something in a transaction.
pub const CHANGES: [Door; 8] = [
    Door::Order,
    Door::Payment,
    Door::Callback,
    Door::Refund,
    Door::Shipment,
    Door::Receipt,
    Door::Cancellation,
    Door::Address,
];

/// One request of a customer of its own.
pub struct Request<'a> {
    pair: &'a Pair,
    door: Door,
    user: String,
    client: Client,
    key: String,
    order: String,
    attempt: Option<Attempt>,
}

impl<'a> Request<'a> {
    /// Everything that has to be there before, done by the healthy instance.
    pub async fn prepare(pair: &'a Pair, door: Door) -> Self {
        let user = Uuid::new_v4().simple().to_string();
        let buyer = pair.healthy.customer(&user);
        let mut request = Self {
            pair,
            door,
            client: pair.faulty.customer(&user),
            key: buyer.token().await,
            order: String::new(),
            attempt: None,
            user,
        };
        if door != Door::Order {
            let placed = buyer.place(&request.key, &body()).await;
            request.order = placed.expect(201).id();
        }
        match door {
            Door::Replay => assert!(request.is_done(&request.send().await)),
            Door::Callback => request.attempt = Some(Attempt::start(&buyer, &request.order).await),
            Door::Refund | Door::Shipment | Door::Receipt => request.pay(&buyer).await,
            _ => {}
        }
        if door == Door::Receipt {
            let shipped = request.ship(&pair.healthy.operator()).await;
            shipped.expect(200);
        }
        request
    }

    pub async fn send(&self) -> Reply {
        let (path, client) = (format!("/api/orders/{}", self.order), &self.client);
        match self.door {
            Door::Order | Door::Replay | Door::Repeat => client.place(&self.key, &body()).await,
            Door::Payment => {
                let request = client.request(Method::POST, &format!("{path}/payments"));
                let request = request.header("Idempotency-Key", &self.user);
                send(request.json(&json!({ "gateway": "sandbox" }))).await
            }
            Door::Callback => self.paid().deliver(&self.pair.faulty).await,
            Door::Refund => {
                let paid = self.attempt.as_ref().unwrap();
                refund(&self.pair.faulty.operator(), paid, &self.user, 100).await
            }
            Door::Shipment => self.ship(&self.pair.faulty.operator()).await,
            Door::Receipt => {
                let path = format!("{path}/receipt");
                client.put(&path, &json!({}), None).await
            }
            Door::Cancellation => client.delete(&path).await,
            Door::Address => {
                let new = address("Lake View 2");
                client.put(&format!("{path}/address"), &new, Some(1)).await
            }
        }
    }

    /// Whether it heard success; anything else has to say that the same may come again.
    #[track_caller]
    pub fn is_done(&self, reply: &Reply) -> bool {
        let is_done = match self.door {
            Door::Callback => return accepted(reply),
            Door::Order | Door::Replay | Door::Repeat | Door::Payment | Door::Refund => {
                reply.status == 201
            }
            Door::Shipment | Door::Receipt | Door::Address => reply.status == 200,
            Door::Cancellation => reply.status == 204,
        };
        // The sandbox keeps its books in the same database.
        let is_gateway_silent = self.door == Door::Payment && reply.code() == "gateway_unknown";
        let is_clear = is_done || asks_to_repeat(reply) || is_gateway_silent;
        assert!(is_clear, "{:?}: {reply:?}", self.door);
        is_done
    }

    /// Sends it until it hears success.
    pub async fn insist(&self) {
        eventually_within(PATIENCE, async || self.is_done(&self.send().await)).await;
    }

    /// Fails unless what it asks for happened, once.
    pub async fn assert_done_once(&self) {
        let buyer = self.pair.healthy.customer(&self.user);
        let orders = buyer.get("/api/orders").await.expect(200);
        let id = &orders.body["data"][0]["id"];
        let id = id.as_str().expect("the order is there").to_owned();
        let event = |kind| format!("order_event WHERE order_id = {id} AND type = '{kind}'");
        let effect = match self.door {
            Door::Order | Door::Replay | Door::Repeat => {
                format!("orders WHERE user_id = '{}'", self.user)
            }
            Door::Payment => format!("payment WHERE order_id = {id}"),
            Door::Refund => format!("refund WHERE order_id = {id}"),
            Door::Callback => event("OrderPaid"),
            Door::Shipment => event("OrderShipped"),
            Door::Receipt => event("OrderFinished"),
            Door::Cancellation => event("OrderClosed"),
            Door::Address => event("AddressChanged"),
        };
        let count = format!("SELECT COUNT(*) FROM {effect}");
        assert_eq!(self.pair.healthy.number(&count).await, 1, "{:?}", self.door);
    }

    async fn pay(&mut self, buyer: &Client) {
        self.attempt = Some(Attempt::start(buyer, &self.order).await);
        assert!(accepted(&self.paid().deliver(&self.pair.healthy).await));
    }

    fn paid(&self) -> Message {
        let attempt = self.attempt.as_ref().unwrap();
        attempt.paid(&format!("paid-{}", attempt.id))
    }

    async fn ship(&self, operator: &Client) -> Reply {
        let shipment = json!({ "carrier": "SF", "tracking_no": "1" });
        let path = format!("/api/orders/{}/shipment", self.order);
        operator.put(&path, &shipment, None).await
    }
}

fn body() -> serde_json::Value {
    order("NORMAL", &[("1", 1)])
}

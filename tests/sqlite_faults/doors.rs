//! Every door that says success, with something for it to do.

use chrono::TimeDelta;
use futures_util::FutureExt;
use order_service::consumers;
use order_service::domain::events::Consumer;
use order_service::events::Message as EventMessage;
use order_service::jobs::relay;
use order_service::services::archive::{self, Options};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::support::archived::old_callbacks;
use crate::support::client::{address, send};
use crate::support::events::{ask, messages};
use crate::support::faults::Aside;
use crate::support::gateway::{Attempt, Message, accepted, paid_order};
use crate::support::{Client, Reply, Shop, order};

/// What says success, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Order,
    Payment,
    /// The same, where the gateway's answer is to be noted.
    OpenedPayment,
    PaymentCallback,
    Refund,
    RefundCallback,
    Shipment,
    Receipt,
    Cancellation,
    Address,
    Replay,
    Consumer,
    Relay,
    Archive,
}

/// A shop with a door that has one thing to do, which it was not asked for yet.
pub struct Case {
    pub door: Door,
    pub shop: Shop,
    pub aside: Aside,
    request: Request,
}

/// The same each time.
enum Request {
    Http(Box<RequestBuilder>),
    Callback(Message),
    Event(Box<EventMessage>),
    /// Whatever is due.
    Work,
}

impl Door {
    pub const ALL: [Self; 14] = [
        Self::Order,
        Self::Payment,
        Self::OpenedPayment,
        Self::PaymentCallback,
        Self::Refund,
        Self::RefundCallback,
        Self::Shipment,
        Self::Receipt,
        Self::Cancellation,
        Self::Address,
        Self::Replay,
        Self::Consumer,
        Self::Relay,
        Self::Archive,
    ];

    /// One of the last changes that it makes, as a trigger names it.
    pub const fn late_change(self) -> &'static str {
        match self {
            Self::Order => "UPDATE ON stock",
            Self::Payment => "INSERT ON payment",
            Self::Cancellation => "INSERT ON stock_ledger",
            Self::Replay => "UPDATE ON message_failure",
            Self::Consumer => "INSERT ON points_ledger",
            Self::Relay => "UPDATE ON order_event",
            Self::Archive => "DELETE ON payment_callback",
            _ => "INSERT ON order_event",
        }
    }

    /// Whether [`Self::late_change`] is in a transaction with others.
    pub const fn is_transaction(self) -> bool {
        !matches!(self, Self::Relay)
    }

    /// What stays when its late change fails: what was stored before, by a transaction of its own.
    pub const fn stays(self) -> i64 {
        match self {
            Self::OpenedPayment | Self::Relay => 1,
            _ => 0,
        }
    }

    /// Counts what it is to do: 1 when that is done once.
    const fn effect(self) -> &'static str {
        match self {
            Self::Order => "SELECT COUNT(*) FROM orders",
            Self::Payment | Self::OpenedPayment => "SELECT COUNT(*) FROM payment",
            Self::PaymentCallback => "SELECT COUNT(*) FROM order_event WHERE type = 'OrderPaid'",
            Self::Refund => "SELECT COUNT(*) FROM refund",
            Self::RefundCallback => {
                "SELECT COUNT(*) FROM order_event WHERE type = 'RefundSucceeded'"
            }
            Self::Shipment => "SELECT COUNT(*) FROM order_event WHERE type = 'OrderShipped'",
            Self::Receipt => "SELECT COUNT(*) FROM orders WHERE finished_at IS NOT NULL",
            Self::Cancellation => "SELECT COUNT(*) FROM stock_ledger WHERE reason = 'RESTORE'",
            Self::Address => "SELECT COUNT(*) FROM order_event WHERE type = 'AddressChanged'",
            Self::Replay => "SELECT COUNT(*) FROM message_failure WHERE dead_at IS NULL",
            Self::Consumer => "SELECT COUNT(*) FROM points_ledger",
            Self::Relay => "SELECT COUNT(*) FROM notification WHERE biz_key LIKE '%OrderPlaced%'",
            Self::Archive => "SELECT COUNT(*) FROM archive_file WHERE state = 'DELETED'",
        }
    }
}

impl Case {
    pub async fn ready(door: Door) -> Self {
        // A claim that a failure leaves ends within the test.
        let shop = Shop::open_with(&[("events.lease", "50ms")]).await;
        let aside = Aside::to(&shop.place).await;
        let request = request(door, &shop, &aside).await;
        Self {
            door,
            shop,
            aside,
            request,
        }
    }

    /// Asks for the same as ever; whether success was said. A refusal that is none of a database in trouble fails.
    pub async fn knock(&self) -> bool {
        match &self.request {
            Request::Http(request) => said(&send(request.try_clone().unwrap()).await),
            Request::Callback(message) => accepted(&message.deliver(&self.shop).await),
            Request::Event(message) => {
                let consumer = Consumer::LoyaltyPoints;
                let taken = consumers::take(&self.shop.app, consumer, message).await;
                // A failure that was noted is acknowledged as well, and tried again later.
                taken.is_ok() && self.effects().await == 1
            }
            Request::Work if self.door == Door::Relay => {
                let waiting = "SELECT COUNT(*) FROM order_event WHERE published_at IS NULL";
                relay::relay(&self.shop.app).await.is_ok() && self.aside.number(waiting).await == 0
            }
            Request::Work => archive::run(&self.shop.app, &Options::default(), &|_| {})
                .boxed_local()
                .await
                .is_ok_and(|report| report.is_complete),
        }
    }

    pub async fn effects(&self) -> i64 {
        self.aside.number(self.door.effect()).await
    }
}

/// A crowd of doors fails with the same words as one.
fn said(reply: &Reply) -> bool {
    match reply.status {
        200..=204 => true,
        500 => false,
        503 | 504 => {
            assert_eq!(reply.header("Retry-After"), Some("1"), "{reply:?}");
            false
        }
        _ => panic!("{reply:?}"),
    }
}

async fn request(door: Door, shop: &Shop, aside: &Aside) -> Request {
    let ann = shop.customer("ann");
    let tea = order("NORMAL", &[("1", 1)]);
    match door {
        Door::Order => http(keyed(&ann, "/api/orders", &ann.token().await).json(&tea)),
        Door::Payment | Door::OpenedPayment => {
            let path = format!("/api/orders/{}/payments", ann.buy(&tea).await);
            http(keyed(&ann, &path, "pay-1").json(&json!({ "gateway": "sandbox" })))
        }
        Door::PaymentCallback => {
            let id = ann.buy(&tea).await;
            Request::Callback(Attempt::start(&ann, &id).await.paid("evt-1"))
        }
        Door::Cancellation => {
            let path = format!("/api/orders/{}", ann.buy(&tea).await);
            http(ann.request(Method::DELETE, &path))
        }
        Door::Address => {
            let path = format!("/api/orders/{}/address", ann.buy(&tea).await);
            http(
                ann.request(Method::PUT, &path)
                    .json(&address("Elsewhere 2")),
            )
        }
        Door::Archive => {
            old_callbacks(aside, 30, "2026-01-01").await;
            Request::Work
        }
        _ => after_payment(door, shop, &paid_order(shop, 10_000).await).await,
    }
}

/// What comes when an order is paid.
async fn after_payment(door: Door, shop: &Shop, paid: &Attempt) -> Request {
    let (ann, operator) = (shop.customer("ann"), shop.operator());
    let path = format!("/api/orders/{}", paid.order);
    let shipment = json!({ "carrier": "SF", "tracking_no": "1" });
    let parcel = operator.request(Method::PUT, &format!("{path}/shipment"));
    match door {
        Door::Refund => {
            let wish = json!({ "amount": 4_000, "reason": "a scratch" });
            http(keyed(&operator, &format!("{path}/refunds"), "back-1").json(&wish))
        }
        Door::RefundCallback => {
            let number = ask(shop, paid, 4_000).await;
            Request::Callback(paid.refunded("evt-back", &number, 4_000))
        }
        Door::Shipment => http(parcel.json(&shipment)),
        Door::Receipt => {
            send(parcel.json(&shipment)).await.expect(200);
            let receipt = ann.request(Method::PUT, &format!("{path}/receipt"));
            http(receipt.json(&json!({})))
        }
        Door::Replay => {
            let path = format!("/api/failed-messages/{}/replay", died(shop).await);
            // By then the operator's token of before has run out.
            let request = keyed(&shop.operator(), &path, "replay-1");
            http(request.json(&json!({})))
        }
        Door::Consumer => {
            let told = messages(shop, &paid.order).await;
            let mut told = told.into_iter();
            let event = told.find(|message| message.kind == "OrderPaid").unwrap();
            Request::Event(Box::new(event))
        }
        _ => Request::Work,
    }
}

fn http(request: RequestBuilder) -> Request {
    Request::Http(Box::new(request))
}

fn keyed(client: &Client, path: &str, key: &str) -> RequestBuilder {
    let request = client.request(Method::POST, path);
    request.header("Idempotency-Key", key)
}

/// The points of an order could not be booked and are not tried any more; the failure's id.
async fn died(shop: &Shop) -> String {
    shop.execute("UPDATE order_event SET payload = '{}' WHERE type = 'OrderPaid'")
        .await;
    shop.relay().await;
    let dead = "SELECT COUNT(*) FROM message_failure WHERE dead_at IS NOT NULL";
    for _ in 0..10 {
        shop.advance(TimeDelta::hours(2));
        shop.retry_messages().await;
    }
    assert_eq!(shop.number(dead).await, 1);
    let id = shop.number("SELECT id FROM message_failure").await;
    shop.execute("UPDATE order_event SET payload = '{\"amount\": 10000}' WHERE type = 'OrderPaid'")
        .await;
    id.to_string()
}

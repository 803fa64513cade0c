//! Orders with refunds, and their messages on the bus past the outbox.

use order_service::consumers;
use order_service::events::{Bus, Message};
use order_service::repositories::order_event;
use order_service::services::events::outbox_relay;
use uuid::Uuid;

use super::gateway::{Attempt, accepted, paid_order, refund};
use super::{Client, Shop, order};

/// An order of ann's over 10,000 that is paid, with refunds asked for.
pub async fn asked(shop: &Shop, parts: &[i64]) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    for part in parts {
        ask(shop, &paid, *part).await;
    }
    paid
}

/// The same with refunds that the gateway confirmed before any consumer heard of the wish.
pub async fn refunded(shop: &Shop, parts: &[i64]) -> Attempt {
    let paid = paid_order(shop, 10_000).await;
    for part in parts {
        let number = ask(shop, &paid, *part).await;
        let message = paid.refunded(&format!("back-{number}"), &number, *part);
        assert!(accepted(&message.deliver(shop).await));
    }
    paid
}

/// Asks for a refund under a key of its own; its number.
pub async fn ask(shop: &Shop, paid: &Attempt, amount: i64) -> String {
    let key = Uuid::new_v4().to_string();
    let reply = refund(&shop.operator(), paid, &key, amount).await;
    reply.expect(201).body["refund_no"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Two attempts at an order over 10,000, both of which may still bring money.
pub async fn two_attempts(shop: &Shop, buyer: &Client) -> (Attempt, Attempt) {
    shop.execute("UPDATE product SET price = 10000 WHERE id = 1")
        .await;
    let order = buyer.buy(&order("NORMAL", &[("1", 1)])).await;
    let first = Attempt::start(buyer, &order).await;
    assert!(accepted(&first.failed("fail-1").deliver(shop).await));
    (first, Attempt::start(buyer, &order).await)
}

/// What the outbox would tell of an order.
pub async fn messages(shop: &Shop, order: &str) -> Vec<Message> {
    let id = order.parse().unwrap();
    let events = order_event::of_order(shop.app.db.read(), id).await.unwrap();
    events.into_iter().map(outbox_relay::message).collect()
}

/// Hands a message to the bus, past the outbox.
pub async fn publish(shop: &Shop, message: &Message) {
    let take = async |consumer, message: &_| consumers::take(&shop.app, consumer, message).await;
    shop.app.bus.publish(message, &take).await.unwrap();
}

pub async fn balance(shop: &Shop) -> i64 {
    let reply = shop.customer("ann").get("/api/points").await.expect(200);
    reply.body["balance"].as_i64().unwrap()
}

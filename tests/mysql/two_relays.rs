//! Two instances relay the same outbox: every event is handed over, in order per order, at either bus.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use entity::OrderId;
use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use lapin::options::{
    BasicConsumeOptions, ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{Connection, ConnectionProperties, Consumer as Listener, ExchangeKind};
use order_service::domain::events::Consumer;
use order_service::events::Message;
use order_service::services::events::outbox_relay;

use crate::support::binary::Binary;
use crate::support::client::Client;
use crate::support::faults::Aside;
use crate::support::gateway::Attempt;
use crate::support::shop::{Place, manual_clock};
use crate::support::{Shop, order};

const ORDERS: usize = 60;
const IN_FLIGHT: usize = 8;
const LOOPS: [(&str, &str); 2] = [
    ("ORDER__JOBS__ENABLED", "true"),
    ("ORDER__EVENTS__POLL", "20ms"),
];

#[actix_web::test]
async fn two_relays_of_one_outbox_hand_each_event_over_once_and_in_turn() {
    let place = Arc::new(Place::fresh().await);
    let in_process = [("rabbitmq.url", "")];
    let shop = Shop::open_at(Arc::clone(&place), manual_clock(), &in_process).await;
    let other = Shop::open_at(place, shop.app.clock.clone(), &in_process).await;
    cancelled_orders(&|number| shop.customer(&format!("buyer-{number}"))).await;
    let events = shop.number("SELECT COUNT(*) FROM order_event").await;
    let seen = RefCell::new(Vec::new());
    let take = async |consumer: Consumer, message: &Message| {
        // The other relay gets its turn while this one is at work.
        tokio::task::yield_now().await;
        if told_to(&message.kind) == Some(consumer) {
            seen.borrow_mut().push((message.order_id, message.seq));
        }
        Ok(())
    };

    let work = [&shop, &other].map(|instance| async {
        while shop
            .number("SELECT COUNT(*) FROM order_event WHERE published_at IS NULL")
            .await
            > 0
        {
            outbox_relay::relay(&instance.app, &take).await.unwrap();
        }
    });
    join_all(work).await;

    // Of each order: placed, closed, retired. That its payment began is nobody's business.
    let told = events - i64::try_from(ORDERS).unwrap();
    let seen = seen.into_inner();
    assert_eq!(i64::try_from(seen.len()), Ok(told));
    assert_in_turn(&seen);
}

#[actix_web::test]
async fn two_instances_with_a_broker_tell_an_outside_listener_everything_in_turn() {
    let place = Place::fresh().await;
    let (_connection, listener) = listen(&place).await;
    let servers = [Binary::start(&place, &LOOPS), Binary::start(&place, &LOOPS)];
    let mut buyers = HashMap::new();
    for number in 0..ORDERS {
        let server = &servers[number % servers.len()];
        let name = format!("buyer-{number}");
        buyers.insert(number, server.sign_in(&name, "customer").await);
    }

    cancelled_orders(&|number| buyers[&number].clone()).await;

    let aside = Aside::to(&place).await;
    let events = aside.number("SELECT COUNT(*) FROM order_event").await;
    let heard = listener
        .take(usize::try_from(events).unwrap())
        .map_ok(|delivery| serde_json::from_slice::<Message>(&delivery.data).unwrap())
        .map_ok(|message| (message.order_id, message.seq))
        .try_collect::<Vec<_>>();
    let heard = tokio::time::timeout(Duration::from_mins(1), heard).await;
    assert_in_turn(&heard.expect("all are heard in time").unwrap());
}

/// The one consumer by which a test counts an event of that type.
fn told_to(kind: &str) -> Option<Consumer> {
    Consumer::of(kind).last()
}

/// 1, 2, 3 … of each order, one after the other.
fn assert_in_turn(seen: &[(OrderId, i64)]) {
    let mut last = HashMap::new();
    for (order, seq) in seen {
        let before = last.insert(order, *seq).unwrap_or(0);
        assert!(before < *seq, "order {order}: {seq} after {before}");
    }
    assert_eq!(last.len(), ORDERS);
}

/// Orders that are placed, begun to pay, and cancelled: four events or five of each.
async fn cancelled_orders(buyer: &impl Fn(usize) -> Client) {
    let buying = (0..ORDERS).map(|number| async move {
        let buyer = buyer(number);
        let product = (number % 6 + 1).to_string();
        let id = buyer.buy(&order("NORMAL", &[(&product, 1)])).await;
        Attempt::start(&buyer, &id).await;
        let path = format!("/api/orders/{id}");
        buyer.delete(&path).await.expect(204);
    });
    stream::iter(buying)
        .buffer_unordered(IN_FLIGHT)
        .collect::<Vec<()>>()
        .await;
}

/// A queue beside those of the service, which hears every event.
async fn listen(place: &Place) -> (Connection, Listener) {
    let setting = |name: &str| {
        let mut settings = place.overrides.iter();
        settings.find(|(key, _)| key == name).unwrap().1.clone()
    };
    let properties = ConnectionProperties::default();
    let url = setting("rabbitmq.url");
    let connection = Connection::connect(&url, properties).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let (exchange, none) = (
        format!("{}.events", setting("rabbitmq.prefix")),
        FieldTable::default,
    );
    let durable = ExchangeDeclareOptions {
        durable: true,
        ..ExchangeDeclareOptions::default()
    };
    channel
        .exchange_declare(
            exchange.as_str().into(),
            ExchangeKind::Topic,
            durable,
            none(),
        )
        .await
        .unwrap();
    let own = QueueDeclareOptions {
        exclusive: true,
        ..QueueDeclareOptions::default()
    };
    let queue = channel.queue_declare("".into(), own, none()).await.unwrap();
    channel
        .queue_bind(
            queue.name().clone(),
            exchange.into(),
            "order.#".into(),
            QueueBindOptions::default(),
            none(),
        )
        .await
        .unwrap();
    let acknowledged = BasicConsumeOptions {
        no_ack: true,
        ..BasicConsumeOptions::default()
    };
    let listener = channel
        .basic_consume(queue.name().clone(), "".into(), acknowledged, none())
        .await
        .unwrap();
    (connection, listener)
}

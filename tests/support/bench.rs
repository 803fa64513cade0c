//! A bus over RabbitMQ with queues of a test's own, and a way past it to look and meddle.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use chrono::DateTime;
use entity::OrderId;
use lapin::options::{BasicPublishOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, Queue};
use order_service::domain::events::Consumer;
use order_service::error::Result;
use order_service::events::{BrokerSettings, Bus, Message, NotHandedOver, RabbitMq};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::rabbitmq_server::RabbitMqServer;
use super::shop::variable;

pub struct Bench {
    pub bus: Arc<RabbitMq>,
    prefix: String,
    url: String,
}

/// What was taken, in turn.
#[derive(Debug, Clone, Default)]
pub struct Taken(Arc<Mutex<Vec<(Consumer, i64)>>>);

impl Bench {
    /// At the broker that all tests share.
    pub fn open() -> Self {
        Self::with_prefetch(16)
    }

    /// Nothing more arrives for a consumer once so many of its messages are not acknowledged.
    pub fn with_prefetch(prefetch: u16) -> Self {
        let url = variable("TEST_RABBITMQ_URL");
        Self::at(url, prefetch, Duration::from_secs(10))
    }

    pub fn of(server: &RabbitMqServer, timeout: Duration) -> Self {
        Self::at(server.url(), 16, timeout)
    }

    fn at(url: String, prefetch: u16, timeout: Duration) -> Self {
        let prefix = format!("test-{}", Uuid::new_v4().simple());
        let settings = BrokerSettings {
            url: url.clone(),
            prefix: prefix.clone(),
            prefetch,
            timeout,
        };
        Self {
            bus: Arc::new(RabbitMq::new(settings).unwrap()),
            prefix,
            url,
        }
    }

    pub async fn publish(&self, message: &Message) -> Result<(), NotHandedOver> {
        self.bus.publish(message, &async |_, _| Ok(())).await
    }

    /// Again until it is handed over, as from the outbox.
    pub async fn hand_over(&self, message: &Message) {
        in_the_end(async || self.publish(message).await.is_ok()).await;
    }

    /// Delivers until it is aborted.
    pub fn deliver(
        &self,
        take: impl AsyncFn(Consumer, &Message) -> Result<()> + 'static,
    ) -> JoinHandle<()> {
        let bus = Arc::clone(&self.bus);
        actix_web::rt::spawn(async move { bus.deliver(&take).await })
    }

    /// Delivers what is always taken at once.
    pub fn deliver_to(&self, taken: &Taken) -> JoinHandle<()> {
        let taken = taken.clone();
        self.deliver(async move |consumer, message: &Message| {
            taken.push(consumer, message);
            Ok(())
        })
    }

    /// Puts any bytes in the way of the consumers of `kind`.
    pub async fn slip_in(&self, kind: &str, body: &[u8]) {
        let (exchange, key) = (format!("{}.events", self.prefix), format!("order.{kind}"));
        let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
        let sent = async |channel: Channel| {
            channel
                .basic_publish(exchange.into(), key.into(), options, body, properties)
                .await
        };
        self.past_the_bus(sent).await.unwrap();
    }

    pub async fn delete_queue(&self, consumer: Consumer) {
        let name = self.queue_name(consumer);
        let options = QueueDeleteOptions::default();
        let deleted = async |channel: Channel| channel.queue_delete(name.into(), options).await;
        self.past_the_bus(deleted).await.unwrap();
    }

    /// Makes the queue before the bus does.
    pub async fn declare_queue(&self, consumer: Consumer, arguments: FieldTable) {
        let name = self.queue_name(consumer);
        let options = QueueDeclareOptions::durable();
        let declared =
            async |channel: Channel| channel.queue_declare(name.into(), options, arguments).await;
        self.past_the_bus(declared).await.unwrap();
    }

    /// Waits until so many messages lie in the queue and are with no consumer.
    pub async fn holds(&self, consumer: Consumer, messages: u32) {
        in_the_end(async || self.queue(consumer).await.message_count() == messages).await;
    }

    async fn queue(&self, consumer: Consumer) -> Queue {
        let name = self.queue_name(consumer);
        let options = QueueDeclareOptions {
            passive: true,
            ..QueueDeclareOptions::default()
        };
        let seen = async |channel: Channel| {
            let arguments = FieldTable::default();
            channel.queue_declare(name.into(), options, arguments).await
        };
        self.past_the_bus(seen).await.unwrap()
    }

    fn queue_name(&self, consumer: Consumer) -> String {
        format!("{}.{}", self.prefix, consumer.name())
    }

    async fn past_the_bus<F: Future>(&self, act: impl FnOnce(Channel) -> F) -> F::Output {
        let properties = ConnectionProperties::default();
        let connection = Connection::connect(&self.url, properties).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        let done = act(channel.clone()).await;
        connection.close(200, "OK".into()).await.unwrap();
        done
    }
}

impl Taken {
    pub fn push(&self, consumer: Consumer, message: &Message) {
        self.0.lock().unwrap().push((consumer, message.event_id));
    }

    pub fn of(&self, consumer: Consumer) -> Vec<i64> {
        let all = self.0.lock().unwrap();
        let own = all.iter().filter(|(taker, _)| *taker == consumer);
        own.map(|(_, event)| *event).collect()
    }

    /// Waits until `consumer` has taken `event`.
    pub async fn sees(&self, consumer: Consumer, event: i64) {
        in_the_end(async || self.of(consumer).contains(&event)).await;
    }
}

/// Waits for `condition`, for longer than the longest pause between two connections.
pub async fn in_the_end(condition: impl AsyncFn() -> bool) {
    let met = async {
        while !condition().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_mins(1), met)
        .await
        .expect("the condition is met in time");
}

/// A message about an event of that number.
pub fn message(kind: &str, event: i64) -> Message {
    Message {
        message_id: Uuid::new_v4().to_string(),
        event_id: event,
        order_id: OrderId(7),
        seq: 3,
        kind: kind.to_owned(),
        subject: "3".to_owned(),
        from: Some("PAYING".to_owned()),
        to: "PAID".to_owned(),
        payload: serde_json::json!({ "amount": 1_250, "currency": "EUR", "note": "naïve \"ü\"" }),
        created_at: DateTime::from_timestamp_nanos(1_796_127_600_123_456_000),
    }
}

//! Consuming all queues over one connection, until that connection or one of the queues is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{join_all, ready};
use futures_util::{StreamExt, TryStreamExt, stream};
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{Connection, ConnectionStatus};
use log::{error, log};
use tokio::sync::SetOnce;
use tokio::time::sleep;

use super::broker::Broker;
use super::pauses::Pauses;
use super::topology;
use crate::domain::events::Consumer;
use crate::error::Result;
use crate::events::bus::Message;

/// How long messages in work may take to end once the connection is lost; the broker delivers the others again.
const LAST_WORK: Duration = Duration::from_secs(10);

pub(super) struct Session<'a> {
    connection: Connection,
    sources: Vec<(Consumer, lapin::Consumer)>,
    unreadable: &'a AtomicU64,
    /// Why the session is over, once it is.
    ended: SetOnce<String>,
}

impl<'a> Session<'a> {
    /// Connects and begins to consume all queues; the error says which step failed.
    pub(super) async fn open(broker: &Broker, unreadable: &'a AtomicU64) -> Result<Self, String> {
        let connection = broker.connect("deliverer").await?;
        let mut sources = Vec::new();
        for consumer in Consumer::ALL {
            let source = consume(broker, &connection, consumer);
            sources.push((consumer, broker.within(source).await?));
        }
        Ok(Self {
            connection,
            sources,
            unreadable,
            ended: SetOnce::new(),
        })
    }

    pub(super) fn status(&self) -> ConnectionStatus {
        self.connection.status().clone()
    }

    /// Delivers until the session is over and returns why it is. Messages in work may still end and be acknowledged.
    pub(super) async fn run(self, take: &impl AsyncFn(Consumer, &Message) -> Result<()>) -> String {
        let sources = self.sources.iter();
        let served =
            join_all(sources.map(|(consumer, source)| self.serve(*consumer, source, take)));
        let cut_off = async {
            self.ended.wait().await;
            sleep(LAST_WORK).await;
        };
        tokio::select! {
            _ = served => {}
            () = cut_off => {}
        }
        self.ended.get().cloned().unwrap_or_default()
    }

    /// Serves the queue of one consumer, as many messages at once as the broker sends unacknowledged.
    async fn serve(
        &self,
        consumer: Consumer,
        source: &lapin::Consumer,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) {
        let cancelled = Err(format!("the queue of {} is gone", consumer.name()));
        let arrivals = source.clone().map_err(|error| error.to_string());
        arrivals
            .chain(stream::once(ready(cancelled)))
            .take_until(self.ended.wait())
            .for_each_concurrent(None, |arrival| async {
                match arrival {
                    Ok(delivery) => self.hand_over(consumer, &delivery, take).await,
                    Err(reason) => self.end(reason),
                }
            })
            .await;
    }

    async fn hand_over(
        &self,
        consumer: Consumer,
        delivery: &Delivery,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) {
        let done = match self.read(consumer, delivery) {
            Some(message) => self.is_taken(consumer, &message, take).await,
            None => true,
        };
        if done {
            // If the acknowledgement does not reach the broker, it delivers the message again.
            let _ = delivery.ack(BasicAckOptions::default()).await;
        }
    }

    /// Parses a message; `None`, logged and counted, when the body is not in our format.
    fn read(&self, consumer: Consumer, delivery: &Delivery) -> Option<Message> {
        let read = serde_json::from_slice(&delivery.data);
        if read.is_err() {
            let id = delivery.properties.message_id();
            let message_id = id.as_ref().map_or("", ShortString::as_str);
            error!(consumer = consumer.name(), message_id; "an unreadable message is dropped; the outbox has it");
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        read.ok()
    }

    /// Lets `take` act on the message until it succeeds; false when the session is over before that.
    async fn is_taken(
        &self,
        consumer: Consumer,
        message: &Message,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) -> bool {
        let mut pauses = Pauses::new(Duration::from_millis(100), Duration::from_secs(5));
        let mut told = false;
        while let Err(error) = take(consumer, message).await {
            if !told {
                log!(error.level(), consumer = consumer.name(), cause = error.cause(); "an event is not taken; it is tried again");
                told = true;
            }
            tokio::select! {
                () = sleep(pauses.take()) => {}
                _ = self.ended.wait() => return false,
            }
        }
        true
    }

    /// The first reason stays.
    fn end(&self, reason: String) {
        let _ = self.ended.set(reason);
    }
}

async fn consume(
    broker: &Broker,
    connection: &Connection,
    consumer: Consumer,
) -> lapin::Result<lapin::Consumer> {
    let channel = connection.create_channel().await?;
    let limit = BasicQosOptions::default();
    channel.basic_qos(broker.prefetch, limit).await?;
    let queue = topology::queue(&broker.prefix, consumer);
    let manual = BasicConsumeOptions::default();
    channel
        .basic_consume(queue, "".into(), manual, FieldTable::default())
        .await
}

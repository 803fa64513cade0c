//! The exchange and the queues that the broker needs, their names, and how they are declared.

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{FieldTable, LongLongInt, LongString, ShortString};
use lapin::{Connection, Error, ErrorKind, ExchangeKind};

use crate::domain::events::Consumer;

const DELIVERY_LIMIT: &str = "x-delivery-limit";
/// The value by which RabbitMQ 4 sets no limit on the deliveries of one message.
const UNLIMITED: LongLongInt = -1;

pub(super) fn exchange(prefix: &str) -> ShortString {
    format!("{prefix}.events").into()
}

pub(super) fn queue(prefix: &str, consumer: Consumer) -> ShortString {
    format!("{prefix}.{}", consumer.name()).into()
}

/// The routing key of events of the type `kind`.
pub(super) fn routing_key(kind: &str) -> String {
    format!("order.{kind}")
}

/// Declares the exchange and queues that are missing, as the broker's major version needs it; existing ones stay.
pub(super) async fn declare(
    connection: &Connection,
    prefix: &str,
    version: u32,
) -> lapin::Result<()> {
    let channel = connection.create_channel().await?;
    let exchange = exchange(prefix);
    let durable = ExchangeDeclareOptions {
        durable: true,
        ..ExchangeDeclareOptions::default()
    };
    channel
        .exchange_declare(
            exchange.clone(),
            ExchangeKind::Topic,
            durable,
            FieldTable::default(),
        )
        .await?;
    for consumer in Consumer::ALL {
        let queue = queue(prefix, consumer);
        declare_queue(connection, &queue, version).await?;
        for kind in consumer.interests() {
            let (key, options) = (routing_key(kind).into(), QueueBindOptions::default());
            channel
                .queue_bind(
                    queue.clone(),
                    exchange.clone(),
                    key,
                    options,
                    FieldTable::default(),
                )
                .await?;
        }
    }
    Ok(())
}

/// Declares a queue. One that exists with another delivery limit is used as it is, since an operator chose that.
async fn declare_queue(
    connection: &Connection,
    name: &ShortString,
    version: u32,
) -> lapin::Result<()> {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), LongString::from("quorum").into());
    // RabbitMQ 4 drops a message after 20 deliveries unless told not to; RabbitMQ 3 does not, but would drop every
    // message at its second delivery if told the same.
    if version >= 4 {
        arguments.insert(DELIVERY_LIMIT.into(), UNLIMITED.into());
    }
    match declare_as(connection, name, arguments).await {
        Err(error) if is_about_the_limit(&error) => Ok(()),
        declared => declared,
    }
}

/// Declares a queue on a channel of its own, because the broker closes the channel when it refuses.
async fn declare_as(
    connection: &Connection,
    name: &ShortString,
    arguments: FieldTable,
) -> lapin::Result<()> {
    let channel = connection.create_channel().await?;
    let durable = QueueDeclareOptions::durable();
    channel
        .queue_declare(name.clone(), durable, arguments)
        .await?;
    Ok(())
}

fn is_about_the_limit(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::ProtocolError(refusal) => {
            refusal.get_message().as_str().contains(DELIVERY_LIMIT)
        }
        _ => false,
    }
}

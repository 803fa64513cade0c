//! Publishing: a message counts as handed over once the broker has confirmed it and has not returned it as unroutable.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::ShortString;
use lapin::{BasicProperties, Channel, Confirmation, Connection};
use log::{info, warn};
use tokio::time::Instant;

use super::broker::{Broker, Failed};
use super::pauses::Pauses;
use super::topology;
use crate::domain::events::Consumer;
use crate::events::bus::Message;

/// The delivery mode of messages that the broker keeps on disk.
const PERSISTENT: u8 = 2;
/// How long a broker counts as blocked when nothing more is published; longer than the relay's longest pause.
const FORGOTTEN: Duration = Duration::from_mins(1);

/// Publishes messages; it connects when there is something to publish, one attempt at a time.
#[derive(Debug)]
pub(super) struct Publisher {
    current: Mutex<Option<Arc<Line>>>,
    attempts: tokio::sync::Mutex<Attempts>,
    confirms: Mutex<Confirms>,
}

/// What is known of the broker's confirmations.
#[derive(Debug, Default)]
struct Confirms {
    /// When a message was confirmed last.
    last_at: Option<Instant>,
    /// When a message was last not confirmed in time, and none has been since.
    missed_at: Option<Instant>,
    /// Whether the log was told that the broker is blocked.
    is_told: bool,
}

impl Confirms {
    /// Tells the log when it begins and when it ends.
    fn tell(&mut self, is_blocked: bool) {
        if std::mem::replace(&mut self.is_told, is_blocked) == is_blocked {
            return;
        }
        if is_blocked {
            warn!(
                "the broker confirms nothing, look at its memory and its disk; events wait in the outbox"
            );
        } else {
            info!("the broker confirms messages again");
        }
    }
}

/// The attempts to connect; after a failed one there is none before `refused_until`.
#[derive(Debug)]
struct Attempts {
    pauses: Pauses,
    refused_until: Option<Instant>,
}

/// A connection and the channels on it that nobody uses now. A channel carries one message at a time: the client
/// takes what is returned for the next message that is confirmed, whichever that is.
#[derive(Debug)]
struct Line {
    connection: Connection,
    idle: Mutex<Vec<Channel>>,
}

impl Default for Publisher {
    fn default() -> Self {
        Self {
            current: Mutex::default(),
            attempts: tokio::sync::Mutex::new(Attempts {
                pauses: Pauses::to_the_broker(),
                refused_until: None,
            }),
            confirms: Mutex::default(),
        }
    }
}

impl Publisher {
    /// Publishes a message. After an error, which says why, it is unknown whether the message was handed over, and the
    /// next call uses a new connection.
    pub(super) async fn publish(&self, broker: &Broker, message: &Message) -> Result<(), String> {
        let line = self.line(broker).await?;
        let started = Instant::now();
        let published = line.publish(broker, message).await;
        if published.is_err() {
            self.give_up(&line);
        }
        self.note(&published, started);
        published.map_err(String::from)
    }

    /// Whether the broker takes connections but confirms nothing, as it does when its memory or disk is full. The
    /// next confirmation ends that. So does a while in which this instance publishes nothing: some instance
    /// retries what is not handed over every few seconds.
    pub(super) fn is_blocked(&self) -> bool {
        let says_so = |line: &Line| line.connection.status().blocked();
        let says_so = self.current().as_deref().is_some_and(says_so);
        let mut confirms = self.confirms();
        let is_late = confirms
            .missed_at
            .is_some_and(|at| at.elapsed() < FORGOTTEN);
        confirms.tell(says_so || is_late);
        says_so || is_late
    }

    fn note(&self, published: &Result<(), Failed>, started: Instant) {
        let mut confirms = self.confirms();
        match published {
            Ok(()) => {
                confirms.last_at = Some(Instant::now());
                confirms.missed_at = None;
                confirms.tell(false);
            }
            // One that waited while the broker was blocked says nothing of the time since.
            Err(Failed::Late(_)) if confirms.last_at.is_none_or(|last| last < started) => {
                confirms.missed_at = Some(Instant::now());
                confirms.tell(true);
            }
            Err(_) => {}
        }
    }

    fn confirms(&self) -> MutexGuard<'_, Confirms> {
        self.confirms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the broker can be reached: false from a failed attempt to connect until one succeeds.
    pub(super) fn is_reachable(&self) -> bool {
        let is_untroubled = |attempts: &Attempts| attempts.refused_until.is_none();
        // While somebody is connecting nobody knows.
        self.connected().is_some()
            || self
                .attempts
                .try_lock()
                .is_ok_and(|attempts| is_untroubled(&attempts))
    }

    async fn line(&self, broker: &Broker) -> Result<Arc<Line>, String> {
        if let Some(line) = self.connected() {
            return Ok(line);
        }
        let mut attempts = self.attempts.lock().await;
        if let Some(made_meanwhile) = self.connected() {
            return Ok(made_meanwhile);
        }
        // Rare and large: boxed, so that the future of every publish stays small.
        let connection = Box::pin(attempts.connect(broker)).await?;
        let line = Arc::new(Line {
            connection,
            idle: Mutex::default(),
        });
        *self.current() = Some(Arc::clone(&line));
        Ok(line)
    }

    fn connected(&self) -> Option<Arc<Line>> {
        let line = self.current().clone();
        line.filter(|line| line.connection.status().connected())
    }

    /// Drops this connection, unless another has replaced it already.
    fn give_up(&self, line: &Arc<Line>) {
        self.current().take_if(|current| Arc::ptr_eq(current, line));
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Line>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempts {
    async fn connect(&mut self, broker: &Broker) -> Result<Connection, String> {
        if self.refused_until.is_some_and(|end| Instant::now() < end) {
            return Err("the broker is away".to_owned());
        }
        let connected = broker.connect("publisher").await;
        if connected.is_ok() {
            self.pauses.reset();
            self.refused_until = None;
        } else {
            self.refused_until = Some(Instant::now() + self.pauses.take());
        }
        connected
    }
}

impl Line {
    async fn publish(&self, broker: &Broker, message: &Message) -> Result<(), Failed> {
        let body = serde_json::to_vec(message).map_err(|error| error.to_string())?;
        let key = short(topology::routing_key(&message.kind))?;
        let properties = BasicProperties::default()
            .with_content_type("application/json".into())
            .with_delivery_mode(PERSISTENT)
            .with_message_id(short(message.message_id.clone())?);
        let options = BasicPublishOptions {
            mandatory: Consumer::of(&message.kind).next().is_some(),
            ..BasicPublishOptions::default()
        };
        let exchange = topology::exchange(&broker.prefix);
        let channel = broker.within(self.channel()).await?;
        let confirmed = broker.within(async {
            let sent = channel.basic_publish(exchange, key, options, &body, properties);
            sent.await?.await
        });
        judge(&confirmed.await?)?;
        self.idle().push(channel);
        Ok(())
    }

    async fn channel(&self) -> lapin::Result<Channel> {
        if let Some(idle) = self.idle().pop() {
            return Ok(idle);
        }
        let channel = self.connection.create_channel().await?;
        let options = ConfirmSelectOptions::default();
        channel.confirm_select(options).await?;
        Ok(channel)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Channel>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn judge(confirmation: &Confirmation) -> Result<(), String> {
    match confirmation {
        Confirmation::Ack(None) => Ok(()),
        Confirmation::Ack(Some(_)) => Err("the broker has no queue for it".to_owned()),
        Confirmation::Nack(_) => Err("the broker could not keep it".to_owned()),
        Confirmation::NotRequested => Err("the broker does not confirm".to_owned()),
    }
}

fn short(text: String) -> Result<ShortString, String> {
    ShortString::try_new(text).map_err(|error| error.to_string())
}

//! The sections of the settings, as `config/default.toml` explains them.

use std::collections::HashMap;
use std::time::Duration;

use entity::order::Policy;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::secret::Secret;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub host: String,
    /// 0 lets the system choose; the log says which.
    pub port: u16,
    /// Threads that answer; 0 = one per core.
    pub workers: usize,
    /// How long running requests may take to end at a shutdown.
    #[serde(deserialize_with = "duration")]
    pub shutdown: Duration,
    /// How long a request may take: queue, locks, statements and all tries.
    #[serde(deserialize_with = "duration")]
    pub deadline: Duration,
    /// The same for GET and HEAD.
    #[serde(deserialize_with = "duration")]
    pub read_deadline: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `sqlite://path` or `mysql://user:password@host:port/name`.
    pub url: Secret,
    /// Connections to `MySQL`; readers on `SQLite`, which has one writer.
    pub max_connections: u32,
    /// How long a connection is waited for.
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
    /// How long a statement or a transaction of jobs, relay, consumers and commands may take.
    #[serde(deserialize_with = "duration")]
    pub deadline: Duration,
    /// A `MySQL` connection that rested for so long is closed.
    #[serde(deserialize_with = "duration")]
    pub idle_timeout: Duration,
    /// A `MySQL` connection is closed after so long.
    #[serde(deserialize_with = "duration")]
    pub max_lifetime: Duration,
    /// A connection that rested for so long is tested before it is used.
    #[serde(deserialize_with = "duration")]
    pub test_after: Duration,
    /// Whether serving migrates first.
    pub migrate: bool,
    /// Whether serving fills an empty catalogue; never in production.
    pub seed: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    /// Empty = gate and locks are kept in this process.
    pub url: Secret,
    pub key_prefix: String,
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RabbitMq {
    /// Empty = events stay in this process.
    pub url: Secret,
    /// Begins the names of the exchange and the queues.
    pub prefix: String,
    /// How many messages of one consumer are at work at once.
    pub prefetch: u16,
    /// How long the broker may take to connect, to declare, to confirm.
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    pub jwt_secret: Secret,
    /// Whether anybody may have a bearer token for the asking; never in production.
    pub dev_sign_in: bool,
    /// How long a token of the development sign-in lives.
    #[serde(deserialize_with = "duration")]
    pub dev_token_ttl: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    pub secret: Secret,
    #[serde(deserialize_with = "duration")]
    pub ttl: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    pub secret: Secret,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// From the creation until when a payment may be started.
    #[serde(deserialize_with = "duration")]
    pub payment_window: Duration,
    /// By order type, in lower case.
    pub types: HashMap<String, OrderTypeRules>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderTypeRules {
    pub policy: Policy,
    /// Whether a rush is met with a lock on user and product.
    pub lock: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callbacks {
    /// Whether a lock on the order spares the database the crowd; it decides nothing.
    pub lock: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// Whether the loops run in this process; tests step them instead.
    pub enabled: bool,
    /// How long a job stays with an instance that crashed.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    /// Ahead of UTC, like `+08:00`: the clock that the schedules are read by.
    pub utc_offset: String,
    /// When each job runs, as cron expressions with seconds; empty = only by hand.
    /// By the names of jobs; without one, or empty: by hand only.
    pub schedules: HashMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// How often the outbox is looked at when no commit wakes the relay.
    #[serde(deserialize_with = "duration")]
    pub poll: Duration,
    /// How long the events of an order stay with a relay that crashed.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    /// After how many failures a message is dead.
    pub attempts: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// How many minor units a point is worth, for orders from now on.
    pub unit: i64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// How long a crashed request keeps its repeats out.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    #[serde(deserialize_with = "duration")]
    pub wait: Duration,
    #[serde(deserialize_with = "duration")]
    pub hold: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulkhead {
    /// Transactions at once at this instance.
    pub transactions: usize,
    /// Requests that may wait for one.
    pub queue: usize,
    #[serde(deserialize_with = "duration")]
    pub wait: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    /// How long a node number is held without a renewal.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
}

/// Reads `30m`, `10s`, `250ms`.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(|error| {
        D::Error::custom(format!(
            "\"{text}\" is no duration like 30m or 10s: {error}"
        ))
    })
}

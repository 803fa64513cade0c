//! Where the broker is and how it is used.

use std::fmt;
use std::time::Duration;

/// The settings of the broker; their debug output leaves out the URL, which can hold a password.
#[derive(Clone)]
pub struct BrokerSettings {
    /// `amqp://user:password@host:port/vhost`, or `amqps:`; a `heartbeat` in its query is kept.
    pub url: String,
    /// What the names of the exchange and the queues begin with; 200 bytes at most.
    pub prefix: String,
    /// How many messages of one consumer are at work at once.
    pub prefetch: u16,
    /// How long the broker may take for one step: to connect, to declare, to confirm.
    pub timeout: Duration,
}

impl fmt::Debug for BrokerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerSettings")
            .field("prefix", &self.prefix)
            .field("prefetch", &self.prefetch)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

//! Connecting to the broker, and declaring the exchange and the queues before a connection is used.

use std::fmt;
use std::time::Duration;

use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties};
use tokio::time::timeout;

use super::broker_settings::BrokerSettings;
use super::{greeting, topology};

/// In seconds; a broker that is silent for twice as long is away.
const HEARTBEAT: u16 = 10;

pub(super) struct Broker {
    uri: AMQPUri,
    pub(super) prefix: String,
    pub(super) prefetch: u16,
    timeout: Duration,
}

/// Why a step at the broker failed.
#[derive(Debug)]
pub(super) enum Failed {
    Refused(String),
    /// No answer within this time.
    Late(Duration),
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

impl From<Failed> for String {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(why) => why,
            Failed::Late(time) => format!("no answer within {time:?}"),
        }
    }
}

impl Broker {
    pub(super) fn new(settings: BrokerSettings) -> Result<Self, String> {
        let mut uri: AMQPUri = settings.url.parse().map_err(|_| {
            "it must read like amqp://user:password@host:5672/%2f, or amqps:".to_owned()
        })?;
        // The parser takes a bare IPv6 address for no host at all, and that for localhost.
        if settings.url.contains('[') {
            return Err("its host must be a name or an IPv4 address".to_owned());
        }
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        Ok(Self {
            uri,
            prefix: settings.prefix,
            prefetch: settings.prefetch,
            timeout: settings.timeout,
        })
    }

    /// A connection that ends when it is dropped; `purpose` names it in the broker's own lists.
    pub(super) async fn connect(&self, purpose: &str) -> Result<Connection, String> {
        let version = self.within(greeting::major_version(&self.uri)).await?;
        let name = format!("{} {purpose}", self.prefix);
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let connecting = Connection::connect_uri(self.uri.clone(), properties);
        let connection = self.within(connecting).await?;
        let declaring = topology::declare(&connection, &self.prefix, version);
        self.within(declaring).await?;
        Ok(connection)
    }

    /// The result of `step`, or an error when it takes too long.
    pub(super) async fn within<T, E: fmt::Display>(
        &self,
        step: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failed> {
        match timeout(self.timeout, step).await {
            Ok(done) => done.map_err(|error| Failed::Refused(error.to_string())),
            Err(_) => Err(Failed::Late(self.timeout)),
        }
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker")
            .field("prefix", &self.prefix)
            .field("prefetch", &self.prefetch)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(url: &str) -> Result<Broker, String> {
        Broker::new(BrokerSettings {
            url: url.to_owned(),
            prefix: "test".to_owned(),
            prefetch: 1,
            timeout: Duration::from_secs(1),
        })
    }

    #[test]
    fn a_bad_address_is_refused_without_being_shown() {
        for url in [
            "",
            "hunter2",
            "http://guest:hunter2@localhost",
            "amqp:hunter2",
            "amqp://guest:hunter2@localhost:port",
            "amqp://guest:hunter2@[::1]/%2f",
            "amqp://localhost?heartbeat=hunter2",
        ] {
            let refusal = broker(url).unwrap_err();
            assert!(!refusal.contains("hunter2"), "{refusal}");
        }
    }

    #[test]
    fn a_good_address_is_not_shown_either() {
        let broker = broker("amqp://guest:hunter2@localhost/%2f").unwrap();

        assert!(!format!("{broker:?}").contains("hunter2"));
    }

    #[test]
    fn a_heartbeat_in_the_address_is_kept() {
        let heartbeat = |url| broker(url).unwrap().uri.query.heartbeat;

        assert_eq!(heartbeat("amqp://localhost"), Some(HEARTBEAT));
        assert_eq!(heartbeat("amqps://localhost?heartbeat=3"), Some(3));
    }
}

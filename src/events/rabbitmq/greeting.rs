//! Reading the broker's version from its greeting, before the sign-in, as the client library does not tell it.

use std::io::{Error, ErrorKind, Result};

use futures_util::{AsyncReadExt, AsyncWriteExt};
use lapin::protocol::{AMQPClass, connection, parse_class};
use lapin::tcp::AMQPUriTcpExt;
use lapin::types::AMQPValue;
use lapin::uri::AMQPUri;

const HELLO: &[u8] = b"AMQP\x00\x00\x09\x01";
/// In bytes; a greeting takes about 500.
const LONGEST: u32 = 65_536;

/// The broker's major version. A broker that hangs is noticed here, before the client library keeps a thread for it.
pub(super) async fn major_version(uri: &AMQPUri) -> Result<u32> {
    let runtime = lapin::runtime::default_runtime().map_err(Error::other)?;
    let mut stream = uri.connect_async(&runtime).await?;
    stream.write_all(HELLO).await?;
    // The header of a frame: its type, its channel, and the length of its payload.
    let mut header = [0; 7];
    stream.read_exact(&mut header).await?;
    let [_, _, _, length @ ..] = header;
    let length = u32::from_be_bytes(length).min(LONGEST);
    let mut greeting = Vec::new();
    let mut rest = stream.take(length.into());
    rest.read_to_end(&mut greeting).await?;
    version(&greeting)
        .and_then(|version| major(&version))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidData,
                "the broker does not tell its version",
            )
        })
}

fn version(greeting: &[u8]) -> Option<String> {
    let (_, class) = parse_class(greeting).ok()?;
    let AMQPClass::Connection(connection::AMQPMethod::Start(start)) = class else {
        return None;
    };
    match start.server_properties.inner().get("version")? {
        AMQPValue::LongString(version) => Some(version.to_string()),
        _ => None,
    }
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_counts() {
        assert_eq!(major("3.10.8"), Some(3));
        assert_eq!(major("4.1.0-rc.1"), Some(4));
        assert_eq!(major("10"), Some(10));
        assert_eq!(major("unknown"), None);
    }

    #[test]
    fn what_is_no_greeting_has_no_version() {
        assert_eq!(version(b""), None);
        assert_eq!(version(b"HTTP/1.1 400 Bad Request"), None);
    }
}

//! Standard Webhooks signatures: HMAC-SHA256 over `id.timestamp.body`, at most five minutes old.

use actix_web::http::header::HeaderMap;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::super::gateway::Rejected;

/// How far a delivery's timestamp may lie from our clock, in seconds; never the event's own age.
const TOLERANCE: i64 = 300;

/// The key in `whsec_` and base64; `None` when it is written otherwise.
pub fn key(secret: &str) -> Option<Vec<u8>> {
    let key = BASE64_STANDARD
        .decode(secret.strip_prefix("whsec_")?)
        .ok()?;
    (!key.is_empty()).then_some(key)
}

/// The header `webhook-signature` of a message.
pub fn sign(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> String {
    let mac = mac(key, id, timestamp, body).finalize().into_bytes();
    format!("v1,{}", BASE64_STANDARD.encode(mac))
}

/// The message's id, when one of its signatures is ours; compared in constant time.
pub fn verify(
    headers: &HeaderMap,
    body: &[u8],
    key: &[u8],
    now: DateTime<Utc>,
) -> Result<String, Rejected> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = text("webhook-id")
        .filter(|id| is_id(id))
        .ok_or(Rejected::Forged)?;
    let timestamp = text("webhook-timestamp").and_then(|text| text.parse::<i64>().ok());
    let timestamp = timestamp.ok_or(Rejected::Forged)?;
    let signatures = text("webhook-signature").ok_or(Rejected::Forged)?;
    let signed = signatures
        .split(' ')
        .filter_map(|signature| signature.strip_prefix("v1,"))
        .filter_map(|signature| BASE64_STANDARD.decode(signature).ok())
        .any(|signature| {
            mac(key, id, timestamp, body)
                .verify_slice(&signature)
                .is_ok()
        });
    let fresh = now.timestamp().abs_diff(timestamp) <= TOLERANCE.unsigned_abs();
    if signed && fresh {
        Ok(id.to_owned())
    } else {
        Err(Rejected::Forged)
    }
}

fn is_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte))
}

fn mac(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes a key of any length")
    };
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    mac
}

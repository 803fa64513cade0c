//! `IdempotentContext`: who asks for what under which key, the same for every door that needs a key.

use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::json;
use crate::auth::{Caller, Role};
use crate::error::{Error, Result};

/// The request header that names a request; echoed in the answer.
pub const KEY_HEADER: &str = "Idempotency-Key";

/// A body that asks for work under an idempotency key.
pub trait Command: DeserializeOwned + Serialize + 'static {
    /// The work's name in records and metrics.
    const OPERATION: &'static str;
    /// Whether a request without a key is refused: a generated key protects nothing.
    const KEY_REQUIRED: bool;
    /// Who may ask.
    const ROLES: &'static [Role];

    /// The key in the body, for callers that cannot set headers; never part of the fingerprint.
    fn key(&self) -> Option<&str>;

    /// Refuses what can be seen to be wrong without looking anything up.
    fn check(&self, caller: &Caller) -> Result<()>;
}

/// The key of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Given(String),
    /// The client sent none; the work leaves no record.
    Generated(String),
}

impl Key {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Given(key) | Self::Generated(key) => key,
        }
    }

    /// A bare or quoted header value of 1 to 255 visible ASCII characters.
    fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let key = match text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(quoted) => unescape(quoted).ok_or(Error::KeyInvalid)?,
            None => text.to_owned(),
        };
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=255).contains(&key.len()) {
            Ok(Self::Given(key))
        } else {
            Err(Error::KeyInvalid)
        }
    }
}

/// Everything that makes two requests the same one.
#[derive(Debug, Clone)]
pub struct IdempotentContext<T> {
    pub caller: Caller,
    pub operation: &'static str,
    pub key: Key,
    /// SHA-256 of method, route, the ids in the path and the parsed body without the key.
    pub fingerprint: [u8; 32],
    pub body: T,
}

impl<T> IdempotentContext<T> {
    /// SHA-256 over the length-prefixed role, caller, operation and key.
    pub fn record_id(&self) -> [u8; 32] {
        digest(&[
            self.caller.role.name().as_bytes(),
            self.caller.user.as_str().as_bytes(),
            self.operation.as_bytes(),
            self.key.as_str().as_bytes(),
        ])
    }
}

impl<T: Command> FromRequest for IdempotentContext<T> {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let bytes = json::receive(&request, payload);
        Box::pin(async move {
            let caller = Caller::extract(&request).await?;
            if !T::ROLES.contains(&caller.role) {
                return Err(Error::Forbidden);
            }
            read(&request, caller, &bytes.await?)
        })
    }
}

fn read<T: Command>(
    request: &HttpRequest,
    caller: Caller,
    bytes: &[u8],
) -> Result<IdempotentContext<T>> {
    let body: T = json::parse(bytes)?;
    let key = match key_header(request)? {
        Some(key) => key,
        None => match body.key() {
            Some(key) => Key::parse(key)?,
            None if T::KEY_REQUIRED => return Err(Error::KeyMissing),
            None => Key::Generated(Uuid::new_v4().to_string()),
        },
    };
    body.check(&caller)?;
    let fingerprint = fingerprint(request, &body)?;
    Ok(IdempotentContext {
        caller,
        operation: T::OPERATION,
        key,
        fingerprint,
        body,
    })
}

/// The header's key; of several, nobody can say which one was meant.
fn key_header(request: &HttpRequest) -> Result<Option<Key>> {
    let mut headers = request.headers().get_all(KEY_HEADER);
    match (headers.next(), headers.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => Key::parse(key.to_str().map_err(|_| Error::KeyInvalid)?).map(Some),
        _ => Err(Error::KeyInvalid),
    }
}

/// The parsed body is written anew, so spacing and the order of fields make no difference.
fn fingerprint(request: &HttpRequest, body: &impl Serialize) -> Result<[u8; 32]> {
    let canonical = serde_json::to_vec(body)
        .map_err(|error| Error::Internal(format!("a body cannot be written: {error}")))?;
    let route = request.match_pattern().unwrap_or_default();
    let mut parts = vec![request.method().as_str().as_bytes(), route.as_bytes()];
    for (name, value) in request.match_info().iter() {
        parts.push(name.as_bytes());
        parts.push(value.as_bytes());
    }
    parts.push(&canonical);
    Ok(digest(&parts))
}

/// SHA-256 over the parts, each behind its length, so that no two lists of parts are alike.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The text of a structured header's string; `None` when a backslash or quote stands alone.
fn unescape(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => return None,
            '\\' => match chars.next() {
                Some(escaped @ ('"' | '\\')) => text.push(escaped),
                _ => return None,
            },
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_and_a_quoted_key_are_the_same() {
        let bare = Key::parse("order-7").expect("a key");
        let quoted = Key::parse("\"order-7\"").expect("a key");

        assert_eq!(bare, quoted);
    }

    #[test]
    fn keys_are_visible_ascii_of_at_most_255() {
        for bad in [
            "",
            "\"\"",
            "two words",
            "ключ",
            "\"open",
            "tab\tbed",
            &"k".repeat(256),
        ] {
            let answer = Key::parse(bad);
            let kept = answer.as_ref().is_ok_and(|key| key.as_str() == "\"open");
            assert!(matches!(answer, Err(Error::KeyInvalid)) || kept, "{bad:?}");
        }
        assert!(Key::parse(&"k".repeat(255)).is_ok());
    }

    #[test]
    fn no_two_lists_of_parts_have_one_digest() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"ab"]), digest(&[b"ab", b""]));
    }
}

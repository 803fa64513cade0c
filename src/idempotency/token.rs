//! Order tokens: signed text that says which order id a customer may create until when.
//!
//! The server knows its own tokens without storing them, so issuing one costs no I/O.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use entity::{OrderId, UserId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "ot_";
const PURPOSE: &[u8] = b"create_order";
const ID_AND_EXPIRY: usize = 16;
const MAC: usize = 32;

/// A token whose signature held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderToken {
    pub order_id: OrderId,
    pub expires_at: DateTime<Utc>,
}

impl OrderToken {
    /// Whether its life is over at `now`.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        now >= self.expires_at
    }

    /// The text for `user`: `ot_` and base64url of id, expiry in Unix milliseconds and HMAC-SHA256.
    pub fn sign(&self, secret: &[u8], user: &UserId) -> String {
        let mut bytes = Vec::with_capacity(ID_AND_EXPIRY + MAC);
        bytes.extend_from_slice(&self.order_id.0.to_be_bytes());
        bytes.extend_from_slice(&self.expires_at.timestamp_millis().to_be_bytes());
        let mac = mac(secret, &bytes, user).finalize().into_bytes();
        bytes.extend_from_slice(&mac);
        format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What `text` says, when it was signed for `user` with `secret`; compared in constant time.
    pub fn verify(text: &str, secret: &[u8], user: &UserId) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD
            .decode(text.strip_prefix(PREFIX)?)
            .ok()?;
        let (signed, signature) = bytes.split_at_checked(ID_AND_EXPIRY)?;
        mac(secret, signed, user).verify_slice(signature).ok()?;
        let (id, expiry) = signed.split_at_checked(8)?;
        let expiry = i64::from_be_bytes(expiry.try_into().ok()?);
        Some(Self {
            order_id: OrderId(i64::from_be_bytes(id.try_into().ok()?)),
            expires_at: DateTime::from_timestamp_millis(expiry)?,
        })
    }
}

fn mac(secret: &[u8], signed: &[u8], user: &UserId) -> Hmac<Sha256> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        unreachable!("HMAC takes a key of any length")
    };
    mac.update(signed);
    mac.update(PURPOSE);
    mac.update(user.as_str().as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"a secret of the tests";

    fn token() -> OrderToken {
        let expires_at = DateTime::from_timestamp_millis(1_800_000_000_123).expect("a time");
        OrderToken {
            order_id: OrderId(42),
            expires_at,
        }
    }

    fn user(name: &str) -> UserId {
        UserId::parse(name).expect("a user id")
    }

    #[test]
    fn a_token_says_what_was_signed() {
        let text = token().sign(SECRET, &user("ann"));

        assert_eq!(
            OrderToken::verify(&text, SECRET, &user("ann")),
            Some(token())
        );
    }

    #[test]
    fn another_user_or_secret_does_not_verify() {
        let text = token().sign(SECRET, &user("ann"));

        assert_eq!(OrderToken::verify(&text, SECRET, &user("ann ")), None);
        assert_eq!(OrderToken::verify(&text, b"another", &user("ann")), None);
    }

    #[test]
    fn any_changed_character_makes_it_a_forgery() {
        let text = token().sign(SECRET, &user("ann"));

        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");

            assert_eq!(
                OrderToken::verify(&forged, SECRET, &user("ann")),
                None,
                "at {at}"
            );
        }
    }

    #[test]
    fn it_lives_until_its_expiry_and_not_longer() {
        let expiry = token().expires_at;

        assert!(!token().is_expired(expiry - chrono::TimeDelta::milliseconds(1)));
        assert!(token().is_expired(expiry));
    }
}

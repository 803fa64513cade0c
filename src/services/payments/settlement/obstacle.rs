//! Why the transaction of a settlement ends without a commit.

use crate::database::{Failure, Refusal, is_key};
use crate::error::Error;

/// Why a message was not settled in this try.
#[derive(Debug)]
pub enum Obstacle {
    /// Its event, or another event about the same fact, has a record already.
    Repeated,
    Because(Error),
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        Self::Because(error)
    }
}

impl From<sea_orm::DbErr> for Obstacle {
    fn from(error: sea_orm::DbErr) -> Self {
        match Failure::of(&error) {
            Failure::Duplicate(key)
                if is_key(&key, "uk_payment_callback_event")
                    || is_key(&key, "uk_payment_callback_biz") =>
            {
                Self::Repeated
            }
            _ => Self::Because(error.into()),
        }
    }
}

impl Refusal for Obstacle {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Because(error) => Some(error),
            Self::Repeated => None,
        }
    }
}

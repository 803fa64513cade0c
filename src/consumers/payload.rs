//! Reading what a message tells.

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::events::Message;

/// What a consumer needs of the payload.
pub(super) fn payload<T: DeserializeOwned>(message: &Message) -> Result<T> {
    T::deserialize(&message.payload).map_err(|problem| {
        let kind = &message.kind;
        Error::Internal(format!("the payload of {kind} cannot be used: {problem}"))
    })
}

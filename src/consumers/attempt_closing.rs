//! Ends retired attempts at their gateway.

use chrono::{DateTime, Utc};
use entity::PaymentId;
use serde::Deserialize;

use super::payload::payload;
use crate::database::Transaction;
use crate::error::Result;
use crate::events::Message;
use crate::services::events::deduplication::Effect;
use crate::services::payments::gateway_calls;

#[derive(Deserialize)]
struct Retired {
    payment_id: PaymentId,
}

/// Notes that the gateway is asked; it is called once that is committed.
pub async fn act(tx: &Transaction, message: &Message, now: DateTime<Utc>) -> Result<Effect> {
    let Retired { payment_id } = payload(message)?;
    let call = gateway_calls::take_up_attempt(tx, payment_id, now).await?;
    Ok(call.map_or(Effect::Nothing, |call| Effect::GatewayCall(Box::new(call))))
}

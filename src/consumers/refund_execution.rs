//! Sends refunds to their gateway as soon as they are asked for.

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
struct Requested {
    payment_id: PaymentId,
    refund_no: String,
}

/// REQUESTED → PROCESSING; the gateway is called once that is committed.
pub async fn act(tx: &Transaction, message: &Message, now: DateTime<Utc>) -> Result<Effect> {
    let Requested {
        payment_id,
        refund_no,
    } = payload(message)?;
    let call = gateway_calls::take_up_refund(tx, payment_id, &refund_no, now).await?;
    Ok(call.map_or(Effect::Nothing, |call| Effect::GatewayCall(Box::new(call))))
}

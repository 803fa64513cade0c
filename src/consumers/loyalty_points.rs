//! Points for what was paid, taken back for what was refunded.

use serde::Deserialize;

use super::payload::payload;
use crate::database::Transaction;
use crate::domain::events::ORDER_PAID;
use crate::error::Result;
use crate::events::Message;
use crate::services::customers::points::{self, Fact};
use crate::services::events::deduplication::Effect;

#[derive(Deserialize)]
struct Paid {
    amount: i64,
}

/// Totals of the booked payment, so that the order of arrival does not matter.
#[derive(Deserialize)]
struct Refunded {
    refunded_before: i64,
    refunded: i64,
}

pub async fn act(tx: &Transaction, message: &Message) -> Result<Effect> {
    let biz_key = message.biz_key();
    let fact = Fact {
        order: message.order_id,
        biz_key: &biz_key,
        happened_at: message.created_at,
    };
    let moved = if message.kind == ORDER_PAID {
        let paid: Paid = payload(message)?;
        points::credit(tx, fact, paid.amount).await?
    } else {
        let totals: Refunded = payload(message)?;
        points::take_back(tx, fact, (totals.refunded_before, totals.refunded)).await?
    };
    Ok(if moved {
        Effect::Applied
    } else {
        Effect::Nothing
    })
}

//! Retiring payment attempts that nobody wants any more: each has to end at its gateway, and an event tells the
//! consumer `attempt_closing` to do that.

use chrono::{DateTime, Utc};
use entity::{PaymentId, order, payment};
use serde_json::json;

use crate::database::Transaction;
use crate::domain::events::PAYMENT_RETIRED;
use crate::error::Result;
use crate::repositories;
use crate::services::orders::order_status::{self, Note};

/// Notes for each open attempt among `payments` that it has to end; the caller has locked their order.
///
/// Attempts that were retired before are left alone. Returns the order with its new `seq`.
pub async fn retire(
    tx: &Transaction,
    mut order: order::Model,
    payments: &[payment::Model],
    actor: &str,
    now: DateTime<Utc>,
) -> Result<order::Model> {
    let open: Vec<PaymentId> = payments
        .iter()
        .filter(|payment| payment.is_open() && payment.close_requested_at.is_none())
        .map(|payment| payment.id)
        .collect();
    if open.is_empty() {
        return Ok(order);
    }
    repositories::payment::request_close(tx, &open, now).await?;
    for payment in open {
        let note = Note::new(actor, json!({ "payment_id": payment }));
        order = order_status::tell(tx, order, PAYMENT_RETIRED, note, now).await?;
    }
    Ok(order)
}

//! Closing an unpaid order in one transaction: its status and slots change, its stock goes back, its open attempts are
//! retired.

use chrono::{DateTime, Utc};
use entity::{OrderId, order, payment};

use super::order_status::{self, Note};
use crate::database::Transaction;
use crate::domain::order_flow::Move;
use crate::error::Result;
use crate::repositories;
use crate::services::catalogue::stock;
use crate::services::payments::retire_attempts;

/// Closes an order whose rows the caller has locked; [`crate::error::Error::StateConflict`] once it
/// is paid.
///
/// Its open attempts are retired (`close_requested_at`); until their gateway has closed them they can
/// still bring money.
pub async fn close(
    tx: &Transaction,
    order: order::Model,
    payments: &[payment::Model],
    note: Note<'_>,
    now: DateTime<Utc>,
) -> Result<order::Model> {
    let actor = note.actor;
    let order = order_status::change(tx, order, Move::Close, note, now).await?;
    let order = retire_attempts::retire(tx, order, payments, actor, now).await?;
    restore_stock(tx, order.id, now).await?;
    Ok(order)
}

/// Gives back all pieces that an order took from the stock.
pub async fn restore_stock(tx: &Transaction, order: OrderId, now: DateTime<Utc>) -> Result<()> {
    let items = repositories::order_item::of_orders(tx, &[order]).await?;
    stock::restore(tx, order, &items, now).await
}

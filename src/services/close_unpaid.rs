//! Closing orders whose time to pay is over: the gateway is asked first, and only what cannot bring money any more closes.

use entity::{order, payment};
use sea_orm::DatabaseTransaction;
use serde_json::json;

use super::closing;
use super::gateway_work::tell_of_silence;
use super::inquiries::{self, Told};
use super::order_status::Note;
use crate::app::App;
use crate::domain::jobs::Job;
use crate::error::Result;
use crate::repositories;

/// How many orders one run takes up.
const BATCH: u64 = 200;

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub closed: usize,
    /// Paid after all.
    pub paid: usize,
    /// The gateway did not say; they are looked at again.
    pub unknown: usize,
}

/// How one order ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Paid,
    Unknown,
    /// Somebody else was faster.
    Settled,
}

/// Closes what is overdue, an order a transaction; stops between two orders when the instance stops.
pub async fn run(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    for order in repositories::order::overdue(app.db.read(), now, BATCH).await? {
        if app.is_stopping() {
            break;
        }
        match close(app, &order).await? {
            End::Closed => done.closed += 1,
            End::Paid => done.paid += 1,
            End::Unknown => done.unknown += 1,
            End::Settled => {}
        }
    }
    Ok(done)
}

async fn close(app: &App, order: &order::Model) -> Result<End> {
    for payment in repositories::payment::of_order(app.db.read(), order.id).await? {
        if !payment.is_open() {
            continue;
        }
        match end(app, &payment).await? {
            Told::Paid => return Ok(End::Paid),
            Told::Ended => {}
            Told::Open | Told::Silent => {
                let subject = payment.id.to_string();
                tell_of_silence(app, order.id, &subject, order.expires_at).await?;
                return Ok(End::Unknown);
            }
        }
    }
    let closed = app
        .db
        .transaction(async |tx| close_if_unpaid(app, tx, order).await);
    Ok(if closed.await? {
        End::Closed
    } else {
        End::Settled
    })
}

/// Asks, then asks for the end, unless somebody else is asking.
async fn end(app: &App, payment: &payment::Model) -> Result<Told> {
    let again = inquiries::next_ask(payment.asks, app.clock.now());
    if !repositories::payment::note_ask(app.db.write(), payment, again).await? {
        return Ok(Told::Silent);
    }
    match inquiries::ask(app, payment).await? {
        Told::Open => inquiries::end(app, payment).await,
        told => Ok(told),
    }
}

/// Looks again under the lock: nothing may be open, and nobody may have paid, cancelled or begun to pay.
///
/// True when the order is closed, also by the gateway's last word a moment ago.
async fn close_if_unpaid(app: &App, tx: &DatabaseTransaction, seen: &order::Model) -> Result<bool> {
    let now = app.clock.now();
    let Some((order, payments)) = repositories::payment::lock_with_order(tx, seen.id).await? else {
        return Ok(false);
    };
    if order.status == order::OrderStatus::Closed {
        return Ok(true);
    }
    let is_overdue = order.is_unpaid() && order.expires_at <= now;
    if !is_overdue || payments.iter().any(payment::Model::is_open) {
        return Ok(false);
    }
    let note = Note::new(Job::CloseUnpaid.name(), json!({}));
    closing::close(tx, order, &payments, note, now).await?;
    Ok(true)
}

//! The scheduled job that closes orders whose payment window is over. It asks the gateway first, and closes an order only
//! when none of its attempts can bring money any more.

use entity::{order, payment};
use serde_json::json;

use super::gateway_calls::{or_unknown, tell_of_silence};
use super::gateway_queries::{self, Told};
use crate::app::App;
use crate::database::Transaction;
use crate::domain::due::is_due;
use crate::domain::jobs::Job;
use crate::error::Result;
use crate::repositories;
use crate::services::orders::close_order;
use crate::services::orders::order_status::Note;

/// How many orders one run takes up.
const BATCH: u64 = 200;

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub closed: usize,
    /// Orders that turned out to be paid.
    pub paid: usize,
    /// Orders whose gateway did not answer; a later run looks at them again.
    pub unknown: usize,
}

/// How one order ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Paid,
    Unknown,
    /// A payment or a cancellation was faster.
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
        let end = close(app, &order).await;
        match or_unknown(end, order.id, End::Unknown)? {
            End::Closed => done.closed += 1,
            End::Paid => done.paid += 1,
            End::Unknown => done.unknown += 1,
            End::Settled => {}
        }
    }
    Ok(done)
}

async fn close(app: &App, order: &order::Model) -> Result<End> {
    let mut is_unknown = false;
    for payment in repositories::payment::of_order(app.db.read(), order.id).await? {
        if !payment.is_open() {
            continue;
        }
        let told = end(app, order, &payment).await;
        match or_unknown(told, order.id, Told::Silent)? {
            Told::Paid => return Ok(End::Paid),
            Told::Ended => {}
            // The others are asked all the same: one of them may be paid.
            Told::Open | Told::Silent => {
                let subject = payment.id.to_string();
                tell_of_silence(app, order.id, &subject, order.expires_at).await?;
                is_unknown = true;
            }
        }
    }
    if is_unknown {
        return Ok(End::Unknown);
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

/// Queries the gateway about an attempt, then asks it to end the attempt; does nothing while another instance asks or
/// the pause since the last query is not over.
async fn end(app: &App, order: &order::Model, payment: &payment::Model) -> Result<Told> {
    let now = app.clock.now();
    if !is_due(payment.next_ask_at, now) {
        return Ok(Told::Silent);
    }
    let again = gateway_queries::next_ask_after(order.expires_at, now);
    if !repositories::payment::note_ask(app.db.write(), payment, again).await? {
        return Ok(Told::Silent);
    }
    match gateway_queries::ask(app, payment).await? {
        Told::Open => gateway_queries::end(app, payment).await,
        told => Ok(told),
    }
}

/// Closes the order if it is still unpaid under its lock and no attempt is open.
///
/// True when the order is closed, also by the gateway's last word a moment ago.
async fn close_if_unpaid(app: &App, tx: &Transaction, seen: &order::Model) -> Result<bool> {
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
    close_order::close(tx, order, &payments, note, now).await?;
    Ok(true)
}

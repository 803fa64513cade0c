//! The transaction that creates an order. It writes the idempotency record first, then order, items, stock ledger and
//! event, and the stock last.

use chrono::{DateTime, TimeDelta, Utc};
use entity::stock_ledger::Reason;
use entity::{idempotency_record, order, order_item};
use serde_json::json;

use super::order_status::{self, Note};
use super::pricing::Quote;
use super::ticket::{Request, Ticket};
use crate::app::App;
use crate::database::{OnDuplicate, Refusal, Transaction};
use crate::domain::slot::active_slot;
use crate::error::Error;
use crate::repositories;
use crate::services::api::responses::OrderView;
use crate::services::catalogue::stock;
use crate::services::keyed_requests::record::{self, Obstacle};
use crate::services::keyed_requests::replay::TOMBSTONE;

/// 9999-12-31 in Unix seconds: when a service's own key expires. Only its record keeps a repeat from making a
/// second order, so it stays for as long as its order does.
const NEVER: i64 = 253_402_214_400;
const CREATED: i32 = 201;

/// What the transaction needs, all read before it begins.
#[derive(Debug)]
pub struct Placement<'a> {
    pub app: &'a App,
    pub request: &'a Request,
    pub ticket: &'a Ticket,
    pub quote: &'a Quote,
}

/// Why no order was created; the row that was in the way is read after the rollback.
#[derive(Debug)]
pub enum Refused {
    /// The record exists: the order was created before, or the token has a tombstone.
    Repeated,
    /// Another transaction is inserting the same record and did not end in time.
    StillRunning,
    /// An order has the id already, although there was no record: that was archived.
    IdTaken,
    /// Another order of the buyer for the same product counts against the order type's policy.
    SlotTaken,
    /// The token's life is over.
    Expired,
    Because(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Because(error)
    }
}

impl From<Obstacle> for Refused {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Repeated => Self::Repeated,
            Obstacle::StillRunning => Self::StillRunning,
            Obstacle::Because(error) => Self::Because(error),
        }
    }
}

impl From<sea_orm::DbErr> for Refused {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Because(error.into())
    }
}

impl Refusal for Refused {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Because(error) => Some(error),
            _ => None,
        }
    }
}

/// Creates the order, unless the token expires before the transaction begins.
pub async fn run(placement: &Placement<'_>) -> Result<OrderView, Refused> {
    let Placement {
        app,
        request,
        ticket,
        ..
    } = placement;
    app.db
        .transaction(async |tx| {
            let now = app.clock.now();
            if ticket.is_expired(now) {
                return Err(Refused::Expired);
            }
            insert_record(tx, request, ticket, CREATED, now).await?;
            create(tx, placement, now).await
        })
        .await
}

/// Inserts the tombstone of an expired token in the place of its record.
///
/// A creation that is still running inserts the same record first, so one of the two waits for the other
/// and fails: a client that was answered 410 never gets an order afterwards.
pub async fn bury(app: &App, request: &Request, ticket: &Ticket) -> Result<(), Refused> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| insert_record(tx, request, ticket, TOMBSTONE, now).await)
        .await
}

async fn create(
    tx: &Transaction,
    placement: &Placement<'_>,
    now: DateTime<Utc>,
) -> Result<OrderView, Refused> {
    let order = order_row(placement, now);
    let items = item_rows(placement, &order);
    let lines = &placement.quote.lines;
    repositories::order::insert(tx, &order)
        .await
        .on_duplicate("pk_orders", Refused::IdTaken)?;
    repositories::order_item::insert(tx, &items)
        .await
        .on_duplicate("uk_user_product", Refused::SlotTaken)?;
    let changes = lines
        .iter()
        .map(|line| stock::change_of(order.id, Reason::Deduct, line.product.id, -line.quantity));
    repositories::stock_ledger::insert(tx, changes, now).await?;
    let payload = json!({ "amount": order.amount, "currency": order.currency });
    let actor = placement.request.caller.role.name();
    order_status::placed(tx, &order, Note::new(actor, payload)).await?;
    for line in lines {
        stock::take(tx, line.product.id, line.quantity, line.stock_version, now).await?;
    }
    Ok(OrderView::new(order, items))
}

async fn insert_record(
    tx: &Transaction,
    request: &Request,
    ticket: &Ticket,
    status_code: i32,
    now: DateTime<Utc>,
) -> Result<(), Refused> {
    let record = idempotency_record::Model {
        id: request.record_id().to_vec(),
        fingerprint: request.fingerprint.to_vec(),
        resource_id: ticket.order_id.0,
        status_code,
        created_at: now,
        expires_at: ticket.expires_at.unwrap_or_else(without_expiry),
    };
    Ok(record::claim(tx, record).await?)
}

fn without_expiry() -> DateTime<Utc> {
    DateTime::from_timestamp(NEVER, 0).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

fn order_row(placement: &Placement<'_>, now: DateTime<Utc>) -> order::Model {
    let Placement {
        app,
        request,
        ticket,
        quote,
    } = placement;
    let window = TimeDelta::from_std(app.settings.orders.payment_window);
    order::Model {
        id: ticket.order_id,
        user_id: ticket.buyer.clone(),
        order_type: request.body.order_type,
        policy: app.settings.rules(request.body.order_type).policy,
        status: order::OrderStatus::PendingPayment,
        amount: quote.total.minor,
        currency: quote.total.currency.clone(),
        refunded_amount: 0,
        address: request.body.address.clone().into(),
        version: 1,
        last_seq: 1,
        created_at: now,
        updated_at: now,
        expires_at: now + window.unwrap_or(TimeDelta::minutes(15)),
        paid_at: None,
        shipped_at: None,
        finished_at: None,
        closed_at: None,
        carrier: String::new(),
        tracking_no: String::new(),
        points_unit: app.settings.points.unit,
    }
}

fn item_rows(placement: &Placement<'_>, order: &order::Model) -> Vec<order_item::Model> {
    let slot = active_slot(order.policy, order.status, order.id);
    let item = |line: &super::pricing::Line| order_item::Model {
        id: 0,
        order_id: order.id,
        user_id: order.user_id.clone(),
        product_id: line.product.id,
        order_type: order.order_type,
        active_slot: slot,
        quantity: line.quantity,
        price: line.product.price,
        sku: line.product.sku.clone(),
        name: line.product.name.clone(),
    };
    placement.quote.lines.iter().map(item).collect()
}

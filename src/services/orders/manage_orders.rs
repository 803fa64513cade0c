//! Reading, listing and cancelling orders, and changing their address. Each query itself finds only the orders that the
//! caller may see.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::{DateTime, Datelike};
use entity::OrderId;
use entity::order::OrderStatus;
use serde_json::json;

use super::close_order;
use super::order_status::{self, Note};
use super::timeline::{self, Timeline};
use crate::app::App;
use crate::auth::{Caller, Role};
use crate::database::Transaction;
use crate::domain::order_flow;
use crate::error::{Error, Result};
use crate::metrics::Layer;
use crate::repositories;
use crate::repositories::order::{Cursor, Whose};
use crate::repositories::payment::OrderWithPayments;
use crate::services::api::requests::PostalAddress;
use crate::services::api::responses::{OrderView, Page};

/// Which orders a list shows.
#[derive(Debug, Clone)]
pub struct Filter {
    pub status: Option<OrderStatus>,
    /// 1 to 100.
    pub limit: u64,
    pub cursor: Option<String>,
}

/// The order as it is now.
pub async fn read(app: &App, caller: &Caller, id: OrderId) -> Result<OrderView> {
    let db = app.db.read();
    let found = repositories::order::find(db, id, reach(caller)).await?;
    let (order, items) = found.ok_or(Error::NotFound)?;
    let payments = repositories::payment::of_order(db, id).await?;
    Ok(OrderView::new(order, items).seen_by(caller.role, &payments))
}

/// A page of orders, newest first: two reads, however long the page is.
pub async fn list(app: &App, caller: &Caller, filter: &Filter) -> Result<Page<OrderView>> {
    let after = filter.cursor.as_deref().map(parse_cursor).transpose()?;
    let wanted = filter.limit;
    let db = app.db.read();
    let orders =
        repositories::order::list(db, reach(caller), filter.status, after, wanted + 1).await?;
    let page = Page::cut(orders, wanted, |last| cursor(&(last.created_at, last.id)));
    let ids: Vec<OrderId> = page.data.iter().map(|order| order.id).collect();
    let mut items = repositories::order_item::of_orders(db, &ids).await?;
    let payments = repositories::payment::of_orders(db, &ids).await?;
    Ok(page.map(|order| {
        let (own, others) = items.drain(..).partition(|item| item.order_id == order.id);
        items = others;
        OrderView::new(order, own).seen_by(caller.role, &payments)
    }))
}

/// Everything that happened to the order, as far as it was not archived.
pub async fn history(app: &App, caller: &Caller, id: OrderId) -> Result<Timeline> {
    let db = app.db.read();
    repositories::order::find_alone(db, id, reach(caller))
        .await?
        .ok_or(Error::NotFound)?;
    let events = repositories::order_event::of_order(db, id).await?;
    let callbacks = repositories::payment_callback::of_order(db, id).await?;
    let payments = repositories::payment::of_order(db, id).await?;
    Ok(Timeline {
        archived: timeline::is_archived(&events, &callbacks, &payments),
        data: timeline::merged(events, callbacks),
    })
}

/// Replaces the address; an address equal to the present one changes nothing, whatever version was seen.
///
/// [`Error::StateConflict`] once the parcel has left, [`Error::VersionConflict`] when the order has
/// changed since version `seen`; without `seen` the last request wins.
pub async fn change_address(
    app: &App,
    caller: &Caller,
    id: OrderId,
    address: &PostalAddress,
    seen: Option<i64>,
) -> Result<OrderView> {
    let now = app.clock.now();
    let address = address.clone().into();
    let order = app
        .db
        .transaction(async |tx| {
            let order = repositories::order::lock(tx, id, reach(caller)).await?;
            let mut order = order.ok_or(Error::NotFound)?;
            if order.address == address {
                return Ok(order);
            }
            if !order_flow::address_changeable(order.status) {
                return Err(Error::StateConflict {
                    status: order.status,
                });
            }
            if seen.is_some_and(|version| version != order.version) {
                return Err(Error::VersionConflict);
            }
            if !repositories::order::set_address(tx, &order, &address, now).await? {
                return Err(Error::VersionConflict);
            }
            order.address = address.clone();
            let order = order_status::touched(order, now);
            let payload = json!({ "version": order.version });
            let note = Note::new(caller.role.name(), payload);
            order_status::address_changed(tx, &order, note, now).await?;
            Ok::<_, Error>(order)
        })
        .await?;
    drop(order);
    read(app, caller, id).await
}

/// Closes the order, frees its slots and gives its stock back, once.
///
/// Succeeds also when the order is closed already and, for a customer, when it is unknown or not his: he has no
/// such order. [`Error::StateConflict`] once it is paid.
pub async fn cancel(app: &App, caller: &Caller, id: OrderId) -> Result<()> {
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let Some((order, payments)) = locked(tx, caller, id).await? else {
                return absent(caller);
            };
            if order.status == OrderStatus::Closed {
                app.metrics.intercepted(Layer::StateMachine, "cancel_order");
                return Ok(());
            }
            let note = Note::new(caller.role.name(), json!({}));
            close_order::close(tx, order, &payments, note, now).await?;
            Ok(())
        })
        .await
}

/// The order and its attempts with their rows locked, if the caller may see the order.
pub async fn locked(
    tx: &Transaction,
    caller: &Caller,
    id: OrderId,
) -> Result<Option<OrderWithPayments>> {
    let found = repositories::payment::lock_with_order(tx, id).await?;
    Ok(found.filter(|(order, _)| match reach(caller) {
        Whose::Of(user) => order.user_id == *user,
        Whose::Anybodys => true,
    }))
}

/// The answer to a cancellation of an unknown order: an operator is told of the mistyped id; a customer must not learn
/// whether another's order exists.
fn absent(caller: &Caller) -> Result<()> {
    match caller.role {
        Role::Operator => Err(Error::NotFound),
        Role::Customer | Role::Service => Ok(()),
    }
}

/// A customer reaches his own orders, an operator all of them.
pub fn reach(caller: &Caller) -> Whose<'_> {
    match caller.role {
        Role::Operator => Whose::Anybodys,
        Role::Customer | Role::Service => Whose::Of(&caller.user),
    }
}

fn cursor((created_at, id): &Cursor) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{}.{id}", created_at.timestamp_micros()))
}

fn parse_cursor(text: &str) -> Result<Cursor> {
    parsed_cursor(text)
        .ok_or_else(|| Error::invalid("cursor", "is not one of ours; take it from next_cursor"))
}

fn parsed_cursor(text: &str) -> Option<Cursor> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (micros, id) = text.split_once('.')?;
    let created_at = DateTime::from_timestamp_micros(micros.parse().ok()?)?;
    // A time outside these years cannot be compared with in the databases.
    let is_ours = (1970..=9999).contains(&created_at.year());
    Some((created_at, id.parse().ok()?)).filter(|_| is_ours)
}

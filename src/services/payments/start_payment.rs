//! Payment attempts: one live at a time, opened at their gateway outside any transaction.

use chrono::{DateTime, Utc};
use entity::order::{self, OrderStatus};
use entity::payment::{self, PaymentStatus, Role};
use entity::{OrderId, PaymentId};
use serde_json::json;

use super::retire_attempts;
use crate::app::App;
use crate::auth::Caller;
use crate::database::{OnDuplicate, Transaction};
use crate::domain::order_flow::Move;
use crate::error::{Error, Result};
use crate::idempotency::{IdempotentContext, Key};
use crate::metrics::Layer;
use crate::repositories;
use crate::services::api::payment::{NewPayment, PaymentView};
use crate::services::keyed_requests::admission;
use crate::services::keyed_requests::record::{self, Obstacle};
use crate::services::keyed_requests::replay;
use crate::services::orders::manage_orders::{locked, reach};
use crate::services::orders::order_status::{self, Note};

/// An attempt, and whether this request made it.
#[derive(Debug, Clone)]
pub struct Started {
    pub payment: PaymentView,
    /// Whether this request made it.
    pub is_new: bool,
    /// The layer that caught the repeat; `None` for the first time.
    pub replayed: Option<Layer>,
}

/// Starts an attempt, or returns the live one if it has the same gateway; any other open attempt is retired.
///
/// [`Error::OrderExpired`] past the payment window, [`Error::AlreadyPaid`] once money is there,
/// [`Error::GatewayUnknown`] when the gateway did not answer: a repeat opens the same attempt again.
pub async fn start(
    app: &App,
    order: OrderId,
    request: &IdempotentContext<NewPayment>,
) -> Result<Started> {
    let look = async || look(app, request, Layer::Gate).await;
    let work = async || start_once(app, order, request).await;
    admission::once(app, request, replay::KEY_LIFE, look, work).await
}

async fn start_once(
    app: &App,
    order: OrderId,
    request: &IdempotentContext<NewPayment>,
) -> Result<Started> {
    let id = PaymentId(app.ids.mint().await?.0);
    let made = app
        .db
        .transaction(async |tx| live_attempt(app, tx, order, id, request).await)
        .await;
    match made {
        Ok((payment, is_new)) => Ok(Started {
            payment: opened(app, payment).await?.into(),
            is_new,
            replayed: None,
        }),
        Err(obstacle) => {
            let look = async || look(app, request, Layer::IdempotencyRecord).await;
            record::explain(app, request, obstacle, look).await
        }
    }
}

/// Looks up the key's record once: the attempt as it is now. If its gateway has not confirmed it yet, it
/// is opened again there under the same id.
async fn look(
    app: &App,
    request: &IdempotentContext<NewPayment>,
    layer: Layer,
) -> Result<Option<Started>> {
    let Some(id) = replay::resource(app, request, layer).await? else {
        return Ok(None);
    };
    let payment = repositories::payment::find(app.db.read(), PaymentId(id)).await?;
    let Some(payment) = payment else {
        return Ok(None);
    };
    Ok(Some(Started {
        payment: opened(app, payment).await?.into(),
        is_new: true,
        replayed: Some(layer),
    }))
}

async fn opened(app: &App, payment: payment::Model) -> Result<payment::Model> {
    if payment.status == PaymentStatus::Created && payment.live_slot == 0 {
        open(app, payment).await
    } else {
        Ok(payment)
    }
}

/// All attempts of an order, by id.
pub async fn list(app: &App, caller: &Caller, order: OrderId) -> Result<Vec<PaymentView>> {
    let db = app.db.read();
    repositories::order::find_alone(db, order, reach(caller))
        .await?
        .ok_or(Error::NotFound)?;
    let payments = repositories::payment::of_order(db, order).await?;
    Ok(payments.into_iter().map(PaymentView::from).collect())
}

pub async fn read(app: &App, caller: &Caller, id: PaymentId) -> Result<PaymentView> {
    let db = app.db.read();
    let payment = repositories::payment::find(db, id)
        .await?
        .ok_or(Error::NotFound)?;
    let order = repositories::order::find_alone(db, payment.order_id, reach(caller)).await?;
    order.map(|_| payment.into()).ok_or(Error::NotFound)
}

async fn live_attempt(
    app: &App,
    tx: &Transaction,
    order: OrderId,
    id: PaymentId,
    request: &IdempotentContext<NewPayment>,
) -> Result<(payment::Model, bool), Obstacle> {
    let now = app.clock.now();
    if let Key::Given(_) = request.key {
        let record = replay::record(request, id.0, now);
        record::claim(tx, record).await?;
    }
    let (order, payments) = locked(tx, &request.caller, order)
        .await?
        .ok_or(Error::NotFound)?;
    payable(&order, &payments, now)?;
    let gateway = &request.body.gateway;
    let live = payments
        .iter()
        .find(|payment| payment.live_slot == 0 && payment.gateway == *gateway);
    if let Some(live) = live {
        note_resource(tx, request, live.id).await?;
        return Ok((live.clone(), false));
    }
    let actor = request.caller.role.name();
    let order = retire_attempts::retire(tx, order, &payments, actor, now).await?;
    let payment = new_attempt(&order, id, gateway, now);
    let twice = Error::Internal("two live attempts under one lock".to_owned());
    repositories::payment::insert(tx, &payment)
        .await
        .on_duplicate("uk_payment_live", twice)?;
    Ok((payment, true))
}

/// Notes that the key stands for the attempt that was live already.
async fn note_resource(
    tx: &Transaction,
    request: &IdempotentContext<NewPayment>,
    live: PaymentId,
) -> Result<()> {
    if let Key::Given(_) = request.key {
        let record = request.record_id();
        repositories::idempotency_record::set_resource(tx, &record, live.0).await?;
    }
    Ok(())
}

fn payable(order: &order::Model, payments: &[payment::Model], now: DateTime<Utc>) -> Result<()> {
    let booked = payments.iter().any(|payment| payment.role == Role::Booked);
    match order.status {
        _ if booked => Err(Error::AlreadyPaid),
        OrderStatus::PendingPayment | OrderStatus::Paying if now < order.expires_at => Ok(()),
        OrderStatus::PendingPayment | OrderStatus::Paying => Err(Error::OrderExpired),
        status => Err(Error::StateConflict { status }),
    }
}

/// Opens the attempt at its gateway, then notes where the buyer pays; → PAYING.
async fn open(app: &App, payment: payment::Model) -> Result<payment::Model> {
    let url = app
        .gateway(&payment.gateway)?
        .open(&payment)
        .await
        .map_err(|_silence| Error::GatewayUnknown)?;
    let now = app.clock.now();
    app.db
        .transaction(async |tx| {
            let found = repositories::payment::lock_with_order(tx, payment.order_id).await?;
            let (order, payments) = found.ok_or(Error::NotFound)?;
            let mut current = payments
                .into_iter()
                .find(|known| known.id == payment.id)
                .ok_or(Error::NotFound)?;
            if current.status != PaymentStatus::Created {
                return Ok(current);
            }
            repositories::payment::open(tx, &current, &url, now).await?;
            current.status = PaymentStatus::Live;
            current.checkout_url.clone_from(&url);
            if order.status == OrderStatus::PendingPayment {
                let note = Note::new("customer", json!({ "payment_id": payment.id }));
                order_status::change(tx, order, Move::StartPayment, note, now).await?;
            }
            Ok::<_, Error>(current)
        })
        .await
}

fn new_attempt(
    order: &order::Model,
    id: PaymentId,
    gateway: &str,
    now: DateTime<Utc>,
) -> payment::Model {
    payment::Model {
        id,
        order_id: order.id,
        gateway: gateway.to_owned(),
        amount: order.amount,
        currency: order.currency.clone(),
        status: PaymentStatus::Created,
        role: Role::None,
        refunded_amount: 0,
        trade_no: String::new(),
        live_slot: 0,
        parked: 0,
        checkout_url: String::new(),
        close_requested_at: None,
        asks: 0,
        next_ask_at: now,
        expires_at: order.expires_at,
        succeeded_at: None,
        created_at: now,
        updated_at: now,
    }
}

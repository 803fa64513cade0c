//! Refunds that the shop asks for: one transaction inserts the refund and reserves its amount; the gateway is called
//! after the commit.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use entity::order::OrderStatus;
use entity::payment::{self, PaymentStatus, Role};
use entity::refund::{self, Origin, RefundStatus};
use entity::{OrderId, PaymentId, RefundId, order};
use serde_json::json;

use crate::app::App;
use crate::auth::Caller;
use crate::database::{OnDuplicate, Transaction};
use crate::domain::events::REFUND_REQUESTED;
use crate::domain::order_flow::Move;
use crate::error::{Error, Result};
use crate::idempotency::IdempotentContext;
use crate::metrics::Layer;
use crate::repositories;
use crate::services::api::refund::{NewRefund, RefundView};
use crate::services::keyed_requests::admission;
use crate::services::keyed_requests::record::{self, Obstacle};
use crate::services::keyed_requests::replay;
use crate::services::orders::manage_orders::reach;
use crate::services::orders::order_status::{self, Note};

/// A refund, and whether this request repeated an earlier one.
#[derive(Debug, Clone)]
pub struct Asked {
    pub refund: RefundView,
    /// The layer that caught the repeat; `None` for the first time.
    pub replayed: Option<Layer>,
}

/// Inserts a refund and reserves its amount, once for each key. The consumer `refund_execution` then sends it to the
/// gateway, and a scheduled job sends it again until its end is known.
///
/// [`Error::RefundExceedsPayment`] when less than the amount is left of the payment.
pub async fn create(
    app: &App,
    order: OrderId,
    request: &IdempotentContext<NewRefund>,
) -> Result<Asked> {
    let look = async || look(app, request, Layer::Gate).await;
    let work = async || create_once(app, order, request).await;
    admission::once(app, request, replay::KEY_LIFE, look, work).await
}

/// All refunds of an order, by id.
pub async fn list(app: &App, caller: &Caller, order: OrderId) -> Result<Vec<RefundView>> {
    let db = app.db.read();
    repositories::order::find_alone(db, order, reach(caller))
        .await?
        .ok_or(Error::NotFound)?;
    let refunds = repositories::refund::of_order(db, order).await?;
    Ok(refunds.into_iter().map(RefundView::from).collect())
}

async fn create_once(
    app: &App,
    order: OrderId,
    request: &IdempotentContext<NewRefund>,
) -> Result<Asked> {
    let made = app
        .db
        .transaction(async |tx| make(app, tx, order, request).await)
        .await;
    match made {
        Ok(refund) => Ok(Asked {
            refund: refund.into(),
            replayed: None,
        }),
        Err(obstacle) => {
            let look = async || match look(app, request, Layer::IdempotencyRecord).await? {
                None => look_by_number(app, order, request).await,
                found => Ok(found),
            };
            record::explain(app, request, obstacle, look).await
        }
    }
}

/// Looks up the key's record once: the refund as it is now, if the key has made one.
async fn look(
    app: &App,
    request: &IdempotentContext<NewRefund>,
    layer: Layer,
) -> Result<Option<Asked>> {
    let Some(id) = replay::resource(app, request, layer).await? else {
        return Ok(None);
    };
    let refund = repositories::refund::find(app.db.read(), RefundId(id)).await?;
    Ok(refund.map(|refund| Asked {
        refund: refund.into(),
        replayed: Some(layer),
    }))
}

/// Finds the refund of a key whose record was archived, by its number, which is made of the key.
///
/// [`Error::KeyReused`] when what is left of the first request differs from this one.
async fn look_by_number(
    app: &App,
    order: OrderId,
    request: &IdempotentContext<NewRefund>,
) -> Result<Option<Asked>> {
    let number = number(request);
    let refunds = repositories::refund::of_order(app.db.read(), order).await?;
    let Some(refund) = refunds.into_iter().find(|known| known.refund_no == number) else {
        return Ok(None);
    };
    let asked = &request.body;
    if asked.reason != refund.reason || asked.amount.is_some_and(|amount| amount != refund.amount) {
        return Err(Error::KeyReused);
    }
    app.metrics
        .intercepted(Layer::OrderUnique, request.operation);
    Ok(Some(Asked {
        refund: refund.into(),
        replayed: Some(Layer::OrderUnique),
    }))
}

/// Inserts the row before it reserves the amount, so that a repeat is recognised by its number whatever is left of
/// the payment.
async fn make(
    app: &App,
    tx: &Transaction,
    order: OrderId,
    request: &IdempotentContext<NewRefund>,
) -> Result<refund::Model, Obstacle> {
    let now = app.clock.now();
    let record = replay::record(request, 0, now);
    record::claim(tx, record).await?;
    let found = repositories::payment::lock_with_order(tx, order).await?;
    let (order, payments) = found.ok_or(Error::NotFound)?;
    let payment = paid(&order, &payments, request.body.payment_id)?;
    let amount = request
        .body
        .amount
        .unwrap_or(payment.amount - payment.refunded_amount);
    let mut refund = row(payment, amount, request, now);
    refund.id = repositories::refund::insert(tx, &refund)
        .await
        .on_duplicate("uk_refund_no", Obstacle::Repeated)?;
    if amount == 0 || !repositories::payment::reserve(tx, payment.id, amount, now).await? {
        return Err(Error::RefundExceedsPayment.into());
    }
    repositories::idempotency_record::set_resource(tx, &request.record_id(), refund.id.0).await?;
    tell(tx, order, payment, &refund, request).await?;
    Ok(refund)
}

/// Writes the event; the order begins to be refunded only when its whole payment is asked back.
async fn tell(
    tx: &Transaction,
    order: order::Model,
    payment: &payment::Model,
    refund: &refund::Model,
    request: &IdempotentContext<NewRefund>,
) -> Result<()> {
    let payload = json!({
        "refund_no": refund.refund_no,
        "payment_id": payment.id,
        "amount": refund.amount,
    });
    let note = || Note::new(request.caller.role.name(), payload.clone());
    let now = refund.created_at;
    let order = order_status::tell(tx, order, REFUND_REQUESTED, note(), now).await?;
    let whole = payment.refunded_amount + refund.amount == payment.amount;
    if payment.role == Role::Booked && whole && order.status != OrderStatus::Refunding {
        order_status::change(tx, order, Move::BeginRefund, note(), now).await?;
    }
    Ok(())
}

fn paid<'a>(
    order: &order::Model,
    payments: &'a [payment::Model],
    named: Option<PaymentId>,
) -> Result<&'a payment::Model> {
    let payment = payments.iter().find(|payment| match named {
        Some(id) => payment.id == id,
        None => payment.role == Role::Booked,
    });
    match payment {
        Some(payment) if payment.status == PaymentStatus::Succeeded => Ok(payment),
        None if named.is_some() => Err(Error::invalid("payment_id", "is none of this order's")),
        _ => Err(Error::StateConflict {
            status: order.status,
        }),
    }
}

/// The refund's number, made of the idempotency record's id, so that a repeat has the same number.
fn number(request: &IdempotentContext<NewRefund>) -> String {
    let hash = BASE64_URL_SAFE_NO_PAD.encode(request.record_id());
    format!("R{hash}")
}

fn row(
    payment: &payment::Model,
    amount: i64,
    request: &IdempotentContext<NewRefund>,
    now: DateTime<Utc>,
) -> refund::Model {
    refund::Model {
        id: RefundId(0),
        refund_no: number(request),
        payment_id: payment.id,
        order_id: payment.order_id,
        amount,
        currency: payment.currency.clone(),
        reason: request.body.reason.clone(),
        status: RefundStatus::Requested,
        origin: Origin::Shop,
        asks: 0,
        next_ask_at: now,
        created_at: now,
        updated_at: now,
        settled_at: None,
    }
}

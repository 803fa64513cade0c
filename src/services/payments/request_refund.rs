//! Refunds that the shop asks for: the row and its reservation first, the gateway later.

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

/// A refund, and who caught the repeat; `None` for the first time.
#[derive(Debug, Clone)]
pub struct Asked {
    pub refund: RefundView,
    /// The layer that caught the repeat.
    pub replayed: Option<Layer>,
}

/// Reserves and notes a refund, once for each key; a job asks the gateway for it.
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

/// One look at the record: the refund as it is now, if it was made.
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

/// The refund whose record was archived: its number is made of the key.
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

/// The row before its reservation: a number that is there already is a repeat, whatever is left.
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

/// The full amount asked back moves the order; a part of it does not.
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

/// Made of the key's record, so a retry keeps it.
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

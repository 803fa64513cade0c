//! Settling what gateways say: [`settle`] serves both callbacks and the answers to our own queries.
//!
//! One transaction locks the order's row and its attempts (`case`), asks the rules of `domain::settlement` for a verdict,
//! inserts the message's record, and carries the verdict out (`verdicts`, `refunds`); then it judges parked callbacks
//! again (`parked`). A repeated message fails at the record's unique keys (`obstacle`). If its record was archived, the
//! state machines find nothing new in it.

mod case;
mod obstacle;
mod parked;
mod refunds;
mod verdicts;

use entity::payment::Role;
use entity::payment_callback::{self, Outcome};
use entity::{OrderId, PaymentId};

use crate::app::App;
use crate::database::Transaction;
use crate::domain::archive::changeable_since;
use crate::domain::gateway_message::GatewayMessage;
use crate::domain::settlement::Verdict;
use crate::error::{Error, Result};
use crate::metrics::Layer;
use crate::repositories;
use crate::services::archive;
use case::Case;
use obstacle::Obstacle;

/// How often settling is tried when a unique key refused the message but no record is found afterwards.
const TRIES: u32 = 5;

/// The order of the attempt that a message names; `None` when there is no such attempt yet.
pub async fn order_of(app: &App, payment: PaymentId) -> Result<Option<OrderId>> {
    let payment = repositories::payment::find(app.db.read(), payment).await?;
    Ok(payment.map(|payment| payment.order_id))
}

/// Settles a message about an attempt of `order`; the outcome that it returns is committed.
pub async fn settle(app: &App, order: OrderId, message: &GatewayMessage) -> Result<Outcome> {
    let mut seen = None;
    for _ in 0..TRIES {
        let tried = app
            .db
            .transaction(async |tx| judge(app, tx, order, message, seen.as_ref()).await)
            .await;
        match tried {
            Ok(outcome) => return Ok(outcome),
            Err(Obstacle::Because(error)) => return Err(error),
            Err(Obstacle::Repeated) => {}
        }
        match look(app, message, seen.as_ref()).await? {
            Look::Final(outcome) => return Ok(outcome),
            Look::JudgeAgain(row) => seen = Some(*row),
            Look::Gone => {}
        }
    }
    Err(Error::Busy)
}

/// Only records a message: one that is ignored, or one that names an attempt that does not exist.
pub async fn record(app: &App, message: &GatewayMessage, outcome: Outcome) -> Result<Outcome> {
    let now = app.clock.now();
    let inserted = app
        .db
        .transaction(async |tx| {
            let row = case::row(message, OrderId(0), outcome, now);
            Ok(repositories::payment_callback::insert(tx, row).await?)
        })
        .await;
    match inserted {
        Ok(()) => Ok(outcome),
        Err(Obstacle::Because(error)) => Err(error),
        Err(Obstacle::Repeated) => {
            let row = by_event(app, message).await?;
            count(app, row.as_ref()).await;
            Ok(row.map_or(outcome, |row| row.outcome))
        }
    }
}

/// The outcome of an event whose record is there and final.
pub async fn known_outcome(app: &App, message: &GatewayMessage) -> Result<Option<Outcome>> {
    let row = by_event(app, message).await?;
    Ok(row
        .map(|row| row.outcome)
        .filter(|outcome| outcome.is_final()))
}

/// Which record made a unique key refuse the message, read after the rollback.
enum Look {
    Final(Outcome),
    /// UNRESOLVED or REFUSED: each delivery is judged anew.
    JudgeAgain(Box<payment_callback::Model>),
    Gone,
}

async fn look(
    app: &App,
    message: &GatewayMessage,
    seen: Option<&payment_callback::Model>,
) -> Result<Look> {
    let row = match by_event(app, message).await? {
        Some(row) if seen.is_none() && !row.outcome.is_final() => {
            count(app, Some(&row)).await;
            return Ok(Look::JudgeAgain(Box::new(row)));
        }
        // Another event about the same fact has been settled meanwhile: its record has the fact's key.
        Some(row) if !row.outcome.is_final() => {
            let gateway = &message.gateway;
            repositories::payment_callback::by_fact(app.db.read(), gateway, &message.biz_key())
                .await?
                .map(|_| row)
        }
        Some(row) => Some(row),
        None => {
            let gateway = &message.gateway;
            repositories::payment_callback::by_fact(app.db.read(), gateway, &message.biz_key())
                .await?
        }
    };
    let Some(row) = row else {
        return Ok(Look::Gone);
    };
    count(app, Some(&row)).await;
    app.metrics
        .intercepted(Layer::CallbackUnique, "payment_callback");
    Ok(Look::Final(if row.outcome.is_final() {
        row.outcome
    } else {
        Outcome::Stale
    }))
}

async fn by_event(app: &App, message: &GatewayMessage) -> Result<Option<payment_callback::Model>> {
    let found = repositories::payment_callback::by_event(
        app.db.read(),
        &message.gateway,
        &message.event_id,
    );
    Ok(found.await?)
}

/// Counts a repeated delivery, by best effort: nothing depends on the count.
async fn count(app: &App, row: Option<&payment_callback::Model>) {
    let Some(row) = row else { return };
    if let Err(error) = count_delivery(app, row.id).await {
        log::log!(error.level(), cause = error.cause(); "a delivery was not counted");
    }
}

async fn count_delivery(app: &App, id: i64) -> Result<()> {
    let now = app.clock.now();
    let since = changeable_since(archive::retention(app)?, now);
    Ok(repositories::payment_callback::count_delivery(app.db.write(), id, since, now).await?)
}

async fn judge(
    app: &App,
    tx: &Transaction,
    order: OrderId,
    message: &GatewayMessage,
    seen: Option<&payment_callback::Model>,
) -> Result<Outcome, Obstacle> {
    let found = repositories::payment::lock_with_order(tx, order).await?;
    let (order, payments) = found.ok_or(Error::NotFound)?;
    let now = app.clock.now();
    let mut case = Case::new(tx, order, payments, message.payment_id, now)?;
    let verdict = case.judge(message).await?;
    let outcome = verdicts::outcome(verdict);
    case.write(message, outcome, seen).await?;
    verdicts::apply(&mut case, verdict, message).await?;
    parked::judge_again(&mut case, verdict).await?;
    if verdict == Verdict::Paid(Role::Surplus) {
        refunds::give_surplus_back(&mut case).await?;
    }
    if outcome == Outcome::Stale {
        app.metrics
            .intercepted(Layer::StateMachine, "payment_callback");
    }
    Ok(outcome)
}

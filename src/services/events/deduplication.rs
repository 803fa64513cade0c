//! Deduplication: a consumer acts once on each business fact, because it inserts a log row whose unique key is the
//! consumer and the fact, in the same transaction as its effect.

use entity::message_consume_log::{self, Status};
use entity::message_failure;

use super::retries;
use crate::app::App;
use crate::database::{Failure, Refusal, Transaction, is_key};
use crate::domain::events::Consumer;
use crate::error::{Error, Result};
use crate::events::Message;
use crate::metrics::Layer;
use crate::repositories;
use crate::services::payments::gateway_calls::GatewayCall;

/// What a consumer did in the transaction.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Nothing had to be done, for instance because the amount is worth no point.
    Nothing,
    Applied,
    /// Applied, and after the commit a gateway has to be called.
    GatewayCall(Box<GatewayCall>),
}

/// Why a message had no effect in this transaction.
enum Obstacle {
    /// The consumer has acted on the fact before.
    Repeated,
    Because(Error),
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        match error {
            Error::ActedOn => Self::Repeated,
            error => Self::Because(error),
        }
    }
}

impl From<sea_orm::DbErr> for Obstacle {
    fn from(error: sea_orm::DbErr) -> Self {
        match Failure::of(&error) {
            Failure::Duplicate(key) if is_key(&key, "uk_consume_log") => Self::Repeated,
            _ => Self::Because(error.into()),
        }
    }
}

impl Refusal for Obstacle {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Because(error) => Some(error),
            Self::Repeated => None,
        }
    }
}

/// Lets `effect` happen once for the fact that `message` tells of; `failure` is the row of its earlier failure.
///
/// `Ok` means that the effect, or the failure of this attempt, is committed; success deletes the earlier failure in
/// the same transaction. A database that is away or busy is an error: nothing is known to be written, so the
/// message has to be delivered again.
pub async fn once(
    app: &App,
    consumer: Consumer,
    message: &Message,
    failure: Option<&message_failure::Model>,
    effect: impl AsyncFn(&Transaction) -> Result<Effect>,
) -> Result<Option<GatewayCall>> {
    match act(app, consumer, message, &effect, failure).await {
        Ok(effect) => return Ok(applied(app, consumer, effect)),
        Err(Obstacle::Repeated) => {
            repeated(app, consumer);
            if let Some(failure) = failure {
                repositories::message_failure::delete(app.db.write(), failure.id).await?;
            }
        }
        Err(Obstacle::Because(error)) if error.is_passing() => return Err(error),
        Err(Obstacle::Because(error)) => {
            app.metrics.events.consumed(consumer.name(), "failed");
            match failure {
                Some(failure) => retries::note_again(app, failure, &error).await?,
                None => retries::record(app, consumer, message, &error).await?,
            }
        }
    }
    Ok(None)
}

async fn act(
    app: &App,
    consumer: Consumer,
    message: &Message,
    effect: &impl AsyncFn(&Transaction) -> Result<Effect>,
    failure: Option<&message_failure::Model>,
) -> Result<Effect, Obstacle> {
    app.db
        .transaction(async |tx| {
            let row = row(app, consumer, message);
            let entry = repositories::message_consume_log::insert(tx, row).await?;
            let effect = effect(tx).await?;
            if matches!(effect, Effect::Nothing) {
                repositories::message_consume_log::note_nothing(tx, entry).await?;
            }
            if let Some(failure) = failure {
                repositories::message_failure::delete(tx, failure.id).await?;
            }
            Ok(effect)
        })
        .await
}

fn row(app: &App, consumer: Consumer, message: &Message) -> message_consume_log::Model {
    message_consume_log::Model {
        id: 0,
        consumer: consumer.name().to_owned(),
        biz_key: message.biz_key(),
        message_id: message.message_id.clone(),
        status: Status::Applied,
        created_at: app.clock.now(),
    }
}

fn applied(app: &App, consumer: Consumer, effect: Effect) -> Option<GatewayCall> {
    let (result, call) = match effect {
        Effect::Nothing => ("nothing", None),
        Effect::Applied => ("applied", None),
        Effect::GatewayCall(call) => ("applied", Some(*call)),
    };
    app.metrics.events.consumed(consumer.name(), result);
    call
}

/// Counts a message about a fact that was acted on before; it is acknowledged like the first.
fn repeated(app: &App, consumer: Consumer) {
    app.metrics.events.consumed(consumer.name(), "duplicate");
    app.metrics.intercepted(Layer::ConsumeLog, consumer.name());
}

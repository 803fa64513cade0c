//! Replaying a dead letter or another failed message for an operator, once for each idempotency key.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::failed_messages::{self, FailureView};
use crate::app::App;
use crate::auth::{Caller, Role};
use crate::error::{Error, Result};
use crate::idempotency::{Command, IdempotentContext, Key};
use crate::metrics::Layer;
use crate::repositories;
use crate::services::keyed_requests::admission;
use crate::services::keyed_requests::record::{self, Obstacle};
use crate::services::keyed_requests::replay;

/// The HTTP status in the idempotency record of a replay.
const ACCEPTED: i32 = 202;

/// An operator's request to replay a failed message.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReplay {
    /// For callers that cannot set headers; the header `Idempotency-Key` wins.
    #[serde(default, skip_serializing)]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}

impl Command for NewReplay {
    const OPERATION: &'static str = "replay_message";
    /// Not required: replaying a message that has worked changes nothing, so the key only spares a second try.
    const KEY_REQUIRED: bool = false;
    const ROLES: &'static [Role] = &[Role::Operator];

    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn check(&self, _: &Caller) -> Result<()> {
        Ok(())
    }
}

/// The failed message that is retried, and whether this request repeated an earlier one.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// `None` once a retry has worked: the message is no longer on the list.
    pub failure: Option<FailureView>,
    pub layer: Option<Layer>,
}

/// Makes a failed message due again, with its attempts counted from zero; the retry loop takes it up within a second.
///
/// [`Error::NotFound`] when no such failure is on the list.
pub async fn create(
    app: &App,
    id: i64,
    request: &IdempotentContext<NewReplay>,
) -> Result<Replayed> {
    let look = async || look(app, request, Layer::Gate).await;
    let work = async || once(app, id, request).await;
    admission::once(app, request, replay::KEY_LIFE, look, work).await
}

async fn once(app: &App, id: i64, request: &IdempotentContext<NewReplay>) -> Result<Replayed> {
    let now = app.clock.now();
    let revived = app
        .db
        .transaction(async |tx| {
            if let Key::Given(_) = request.key {
                let mut record = replay::record(request, id, now);
                record.status_code = ACCEPTED;
                record::claim(tx, record).await?;
            }
            if repositories::message_failure::revive(tx, id, now).await? {
                Ok(())
            } else {
                Err(Obstacle::Because(Error::NotFound))
            }
        })
        .await;
    if let Err(obstacle) = revived {
        let look = async || look(app, request, Layer::IdempotencyRecord).await;
        return record::explain(app, request, obstacle, look).await;
    }
    Ok(Replayed {
        failure: failed_messages::read(app, id).await?,
        layer: None,
    })
}

/// Looks up the key's record once: the message as it is now, if this key has asked for its replay.
async fn look(
    app: &App,
    request: &IdempotentContext<NewReplay>,
    layer: Layer,
) -> Result<Option<Replayed>> {
    let Some(id) = replay::resource(app, request, layer).await? else {
        return Ok(None);
    };
    Ok(Some(Replayed {
        failure: failed_messages::read(app, id).await?,
        layer: Some(layer),
    }))
}

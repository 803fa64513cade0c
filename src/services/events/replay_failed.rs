//! An operator replays a dead letter or a failed message: once for each key.

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

/// What the record of a replay says: accepted, not created.
const ACCEPTED: i32 = 202;

/// A failed message that is to be tried again.
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
    /// Trying again what worked changes nothing, so a key only spares a second try.
    const KEY_REQUIRED: bool = false;
    const ROLES: &'static [Role] = &[Role::Operator];

    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn check(&self, _: &Caller) -> Result<()> {
        Ok(())
    }
}

/// A message that is tried again, and who caught the repeat; `None` for the first time.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// `None` once it worked: it is on no list any more.
    pub failure: Option<FailureView>,
    pub layer: Option<Layer>,
}

/// Lets a failed message be tried again from the beginning; the next look at the list takes it up.
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

/// One look at the record: the message as it is now, if its replay was asked for.
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

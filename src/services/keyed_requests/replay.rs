//! Replays: a repeated request is answered with the resource as it is now, read from the database, never from Redis.

use std::time::Duration;

use chrono::{DateTime, Utc};
use entity::idempotency_record;
use sea_orm::ConnectionTrait;

use crate::app::App;
use crate::error::{Error, Result};
use crate::idempotency::IdempotentContext;
use crate::metrics::Layer;
use crate::repositories;
use crate::repositories::order::WithItems;
use crate::services::api::responses::OrderView;

/// The status that a tombstone carries: the token's life ended without an order.
pub const TOMBSTONE: i32 = 410;

/// The answer to a keyed request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub order: OrderView,
    /// The layer that caught the repeat; `None` for the first time.
    pub replayed: Option<Layer>,
}

impl Answer {
    pub fn first(order: OrderView) -> Self {
        Self {
            order,
            replayed: None,
        }
    }

    /// The answer to a repeat that `layer` caught: the order that exists already.
    pub fn replay(app: &App, operation: &str, order: WithItems, layer: Layer) -> Self {
        app.metrics.intercepted(layer, operation);
        let (order, items) = order;
        Self {
            order: OrderView::new(order, items),
            replayed: Some(layer),
        }
    }
}

/// Looks up the record of a request once: its replay, if the work was done.
///
/// [`Error::KeyReused`] when the key was used for something else, [`Error::TokenExpired`] when its
/// record is a tombstone. `None` when there is no record: the work was not done.
pub async fn look<T>(
    app: &App,
    context: &IdempotentContext<T>,
    layer: Layer,
) -> Result<Option<Answer>> {
    let Some((record, order)) = find(app.db.read(), &context.record_id()).await? else {
        return Ok(None);
    };
    if record.status_code == TOMBSTONE {
        app.metrics.intercepted(layer, context.operation);
        return Err(Error::TokenExpired);
    }
    if record.fingerprint != context.fingerprint {
        return Err(Error::KeyReused);
    }
    Ok(order.map(|order| Answer::replay(app, context.operation, order, layer)))
}

async fn find(
    db: &impl ConnectionTrait,
    id: &[u8],
) -> Result<Option<(idempotency_record::Model, Option<WithItems>)>> {
    Ok(repositories::idempotency_record::find_with_order(db, id).await?)
}

/// How long a key is remembered that does not carry its own expiry, as an order token does.
pub const KEY_LIFE: Duration = Duration::from_hours(24);

/// The record of a keyed request whose work made `resource` (0 when that is known only later).
pub fn record<T>(
    request: &IdempotentContext<T>,
    resource: i64,
    now: DateTime<Utc>,
) -> idempotency_record::Model {
    idempotency_record::Model {
        id: request.record_id().to_vec(),
        fingerprint: request.fingerprint.to_vec(),
        resource_id: resource,
        status_code: 201,
        created_at: now,
        expires_at: now + KEY_LIFE,
    }
}

/// The id of what the request's work made, if it was done; [`Error::KeyReused`] when the key was used for
/// something else.
pub async fn resource<T>(
    app: &App,
    request: &IdempotentContext<T>,
    layer: Layer,
) -> Result<Option<i64>> {
    let record =
        repositories::idempotency_record::find(app.db.read(), &request.record_id()).await?;
    let Some(record) = record else {
        return Ok(None);
    };
    if record.fingerprint != request.fingerprint {
        return Err(Error::KeyReused);
    }
    app.metrics.intercepted(layer, request.operation);
    Ok(Some(record.resource_id))
}

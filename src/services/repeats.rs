//! What a repeat hears: the resource as it is now, read from the database, never from Redis.

use entity::idempotency_record;
use sea_orm::ConnectionTrait;

use super::views::OrderView;
use crate::app::App;
use crate::error::{Error, Result};
use crate::idempotency::IdempotentContext;
use crate::metrics::Layer;
use crate::repositories;
use crate::repositories::order::WithItems;

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

    /// The order that is there already, caught by `layer`.
    pub fn replay(app: &App, operation: &str, order: WithItems, layer: Layer) -> Self {
        app.metrics.intercepted(layer, operation);
        let (order, items) = order;
        Self {
            order: OrderView::new(order, items),
            replayed: Some(layer),
        }
    }
}

/// One look at the record of a request: its replay, if the work was done.
///
/// [`Error::KeyReused`] when the key was used for something else, [`Error::TokenExpired`] when it
/// was buried. `None` when there is no record: the work was not done.
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

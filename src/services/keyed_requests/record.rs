//! The idempotency record: inserted first, in the transaction that does the work. A violated primary key means that
//! the request is a repeat.

use entity::idempotency_record;

use crate::app::App;
use crate::database::{Failure, OnDuplicate, Refusal, Transaction};
use crate::error::{Error, Result};
use crate::idempotency::IdempotentContext;
use crate::metrics::Layer;
use crate::repositories;

/// Why the transaction did not do the work; what the request is answered is read after the rollback.
#[derive(Debug)]
pub enum Obstacle {
    /// The record exists, so the work was done before.
    Repeated,
    /// Another transaction is inserting the same record and did not end in time.
    StillRunning,
    Because(Error),
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        Self::Because(error)
    }
}

impl From<sea_orm::DbErr> for Obstacle {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Because(error.into())
    }
}

impl Refusal for Obstacle {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Because(error) => Some(error),
            _ => None,
        }
    }
}

/// Inserts the record; a lock wait that runs out here means that the first request still runs, and is not retried.
pub async fn claim(tx: &Transaction, record: idempotency_record::Model) -> Result<(), Obstacle> {
    match repositories::idempotency_record::insert(tx, record).await {
        Err(error) if Failure::is_lock_wait(&error) => Err(Obstacle::StillRunning),
        inserted => inserted.on_duplicate("pk_idempotency_record", Obstacle::Repeated),
    }
}

/// The answer to a repeat, after its rollback: what `look` finds of the first request's work, or
/// [`Error::InProgress`] while it finds nothing.
pub async fn explain<B, T>(
    app: &App,
    request: &IdempotentContext<B>,
    obstacle: Obstacle,
    look: impl AsyncFnOnce() -> Result<Option<T>>,
) -> Result<T> {
    if let Obstacle::Because(error) = obstacle {
        return Err(error);
    }
    if let Some(done) = look().await? {
        return Ok(done);
    }
    let layer = Layer::IdempotencyRecord;
    app.metrics.intercepted(layer, request.operation);
    Err(Error::InProgress { layer })
}

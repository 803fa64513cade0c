//! Failed messages as operators see them: those that are retried, and dead letters.

use chrono::{DateTime, Utc};
use entity::{OrderId, message_failure};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{Error, Result};
use crate::repositories;
use crate::services::api::responses::Page;

/// Where a message that failed is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// It is retried by itself when its pause is over.
    Waiting,
    /// A dead letter: it is not retried until an operator replays it.
    Dead,
}

/// A message that failed, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureView {
    pub id: String,
    pub consumer: String,
    pub event_id: String,
    #[schema(value_type = String)]
    pub order_id: OrderId,
    /// The type of the event; `None` when the event is not there any more.
    #[serde(rename = "type")]
    pub event_type: Option<String>,
    pub state: State,
    /// How often it failed.
    pub attempts: i32,
    pub last_error: String,
    pub next_attempt_at: DateTime<Utc>,
    pub dead_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A page of failed messages, the oldest first, behind the id `after`.
pub async fn list(
    app: &App,
    state: Option<State>,
    after: i64,
    limit: u64,
) -> Result<Page<FailureView>> {
    let db = app.db.read();
    let is_dead = state.map(|state| state == State::Dead);
    let failures = repositories::message_failure::list(db, is_dead, after, limit + 1).await?;
    let page = Page::cut(failures, limit, |failure| failure.id.to_string());
    let events = page.data.iter().map(|failure| failure.event_id);
    let kinds = repositories::order_event::kinds(db, events).await?;
    Ok(page.map(|failure| {
        let kind = kinds.get(&failure.event_id).cloned();
        FailureView::new(failure, kind)
    }))
}

/// One failed message; `None` when it is not, or no longer, on the list, as a retry worked.
pub async fn read(app: &App, id: i64) -> Result<Option<FailureView>> {
    let Some(failure) = repositories::message_failure::find(app.db.write(), id).await? else {
        return Ok(None);
    };
    let event = repositories::order_event::find(app.db.read(), failure.event_id).await?;
    Ok(Some(FailureView::new(
        failure,
        event.map(|event| event.kind),
    )))
}

/// Makes a failed message due again, with its attempts counted from zero; [`Error::NotFound`] when it is no longer
/// on the list.
pub async fn replay(app: &App, id: i64) -> Result<()> {
    let now = app.clock.now();
    let is_there = repositories::message_failure::revive(app.db.write(), id, now).await?;
    is_there.then_some(()).ok_or(Error::NotFound)
}

/// Makes all dead letters due again; returns how many.
pub async fn replay_all(app: &App) -> Result<u64> {
    Ok(repositories::message_failure::revive_all(app.db.write(), app.clock.now()).await?)
}

impl FailureView {
    fn new(failure: message_failure::Model, event_type: Option<String>) -> Self {
        Self {
            id: failure.id.to_string(),
            consumer: failure.consumer,
            event_id: failure.event_id.to_string(),
            order_id: failure.order_id,
            event_type,
            state: if failure.dead_at.is_some() {
                State::Dead
            } else {
                State::Waiting
            },
            attempts: failure.attempts,
            last_error: failure.last_error,
            next_attempt_at: failure.next_attempt_at,
            dead_at: failure.dead_at,
            created_at: failure.created_at,
        }
    }
}

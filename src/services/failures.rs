//! Messages that a consumer could not act on: tried again with growing pauses, then dead until an operator replays them.

use chrono::{DateTime, TimeDelta, Utc};
use entity::{OrderId, message_failure};
use sea_orm::DatabaseTransaction;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::views::Page;
use super::{alerts, outbox};
use crate::app::App;
use crate::database::{OnDuplicate, Refusal};
use crate::domain::events::Consumer;
use crate::error::{Error, Result};
use crate::events::Message;
use crate::repositories;

/// Seconds before the second, third … attempt; the last holds for all that follow.
const PAUSES: [i64; 7] = [1, 5, 30, 120, 600, 1_800, 3_600];
/// How long an attempt may take before another relay takes it up.
const ATTEMPT: TimeDelta = TimeDelta::minutes(1);
/// How many are taken up in one run.
const BATCH: u64 = 100;
/// The longest text of an error that is kept, in characters.
const LONGEST_ERROR: usize = 500;

/// Where a message that failed is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// It is tried again by itself.
    Waiting,
    /// Nobody tries it any more until it is replayed.
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

/// Notes the first failure; copies of the message that fail meanwhile change nothing.
pub async fn record(app: &App, consumer: Consumer, message: &Message, error: &Error) -> Result<()> {
    let now = app.clock.now();
    let first = message_failure::Model {
        id: 0,
        consumer: consumer.name().to_owned(),
        event_id: message.event_id,
        order_id: message.order_id,
        attempts: 0,
        next_attempt_at: now,
        last_error: String::new(),
        dead_at: None,
        created_at: now,
        updated_at: now,
    };
    let failed = after(app, &first, error, now);
    let inserted = app
        .db
        .transaction(async |tx| {
            repositories::message_failure::insert(tx, failed.clone())
                .await
                .on_duplicate("uk_message_failure", Noted::Already)?;
            Ok(bury(tx, &failed, now).await?)
        })
        .await;
    match inserted {
        Err(Noted::Already) | Ok(()) => Ok(()),
        Err(Noted::Not(error)) => Err(error),
    }
}

/// Notes that another attempt failed; after the last it is dead, which raises an alert.
pub async fn note_again(app: &App, seen: &message_failure::Model, error: &Error) -> Result<()> {
    let now = app.clock.now();
    let failed = after(app, seen, error, now);
    app.db
        .transaction(async |tx| {
            if repositories::message_failure::note(tx, seen, &failed).await? {
                bury(tx, &failed, now).await?;
            }
            Ok(())
        })
        .await
}

/// Takes up what is due: each failure with its message, for `attempt` to act on.
pub async fn deliver_due(
    app: &App,
    attempt: impl AsyncFn(Consumer, &Message, &message_failure::Model) -> Result<()>,
) -> Result<usize> {
    let mut taken_up = 0;
    let now = app.clock.now();
    for failure in repositories::message_failure::due(app.db.read(), now, BATCH).await? {
        if !repositories::message_failure::claim(app.db.write(), &failure, now + ATTEMPT).await? {
            continue;
        }
        taken_up += 1;
        let event = repositories::order_event::find(app.db.read(), failure.event_id).await?;
        match (Consumer::named(&failure.consumer), event) {
            (Some(consumer), Some(event)) => {
                attempt(consumer, &outbox::message(event), &failure).await?;
            }
            _ => {
                let gone = Error::Internal("its event or its consumer is not there".to_owned());
                note_again(app, &failure, &gone).await?;
            }
        }
    }
    Ok(taken_up)
}

/// A page of what failed, the oldest first, behind the id `after`.
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

/// `None` when no such failure is on the list (any more): the message worked.
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

/// Lets all dead messages be tried again; returns how many.
pub async fn revive_all(app: &App) -> Result<u64> {
    Ok(repositories::message_failure::revive_all(app.db.write(), app.clock.now()).await?)
}

/// The failure as another failed attempt leaves it.
fn after(
    app: &App,
    seen: &message_failure::Model,
    error: &Error,
    now: DateTime<Utc>,
) -> message_failure::Model {
    let attempts = seen.attempts + 1;
    let at = usize::try_from(seen.attempts).unwrap_or_default();
    let pause = TimeDelta::seconds(PAUSES[at.min(PAUSES.len() - 1)]);
    let is_last = u32::try_from(attempts).unwrap_or_default() >= app.settings.events.attempts;
    message_failure::Model {
        attempts,
        next_attempt_at: now + pause,
        last_error: error.cause().chars().take(LONGEST_ERROR).collect(),
        dead_at: is_last.then_some(now),
        updated_at: now,
        ..seen.clone()
    }
}

/// Tells a person, when this was the last attempt.
async fn bury(
    tx: &DatabaseTransaction,
    failed: &message_failure::Model,
    now: DateTime<Utc>,
) -> Result<()> {
    log::warn!(
        consumer = failed.consumer.as_str(), event = failed.event_id, attempts = failed.attempts,
        dead = failed.dead_at.is_some();
        "a message had no effect"
    );
    if failed.dead_at.is_none() {
        return Ok(());
    }
    let subject = format!("{}:{}", failed.consumer, failed.event_id);
    let detail = "a message failed so often that it is not tried any more; replay it after the fix";
    let about = (failed.order_id, detail);
    alerts::raise(tx, alerts::Kind::DeadMessage, &subject, about, now).await
}

/// Why a failure was not written.
enum Noted {
    Already,
    Not(Error),
}

impl From<Error> for Noted {
    fn from(error: Error) -> Self {
        Self::Not(error)
    }
}

impl Refusal for Noted {
    fn is_passing(&self) -> bool {
        matches!(self, Self::Not(error) if error.is_passing())
    }
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

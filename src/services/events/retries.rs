//! Retries of messages that a consumer failed on: each waits for a growing pause, and after the last attempt the message
//! is a dead letter.

use chrono::{DateTime, TimeDelta, Utc};
use entity::{message_failure, order_event};
use log::warn;

use super::outbox_relay;
use crate::app::App;
use crate::database::{OnDuplicate, Refusal, Transaction};
use crate::domain::events::Consumer;
use crate::error::{Error, Result};
use crate::events::Message;
use crate::repositories;
use crate::services::operations::alerts;

/// Seconds before the second, third … attempt; the last holds for all that follow.
const PAUSES: [i64; 7] = [1, 5, 30, 120, 600, 1_800, 3_600];
/// How long a retry may take before another instance may take the message up.
const ATTEMPT: TimeDelta = TimeDelta::minutes(1);
/// How many failed messages one pass takes up.
const BATCH: u64 = 100;
/// The longest text of an error that is kept, in characters.
const LONGEST_ERROR: usize = 500;

/// Records a message's first failure; a copy of the message that fails meanwhile changes nothing.
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
    log_failure(&failed);
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

/// Records that another attempt failed; after the last one the message is dead, and an alert is raised.
pub async fn note_again(app: &App, seen: &message_failure::Model, error: &Error) -> Result<()> {
    let now = app.clock.now();
    let failed = after(app, seen, error, now);
    log_failure(&failed);
    app.db
        .transaction(async |tx| {
            if repositories::message_failure::note(tx, seen, &failed).await? {
                bury(tx, &failed, now).await?;
            }
            Ok(())
        })
        .await
}

/// Takes up the failed messages that are due and calls `attempt` with each failure and its message.
pub async fn deliver_due(
    app: &App,
    attempt: impl AsyncFn(Consumer, &Message, &message_failure::Model) -> Result<()>,
) -> Result<usize> {
    let mut taken_up = 0;
    let now = app.clock.now();
    for failure in repositories::message_failure::due(app.db.read(), now, BATCH).await? {
        let until = app.clock.now() + ATTEMPT;
        if !repositories::message_failure::claim(app.db.write(), &failure, until).await? {
            continue;
        }
        taken_up += 1;
        match event_of(app, &failure).await {
            Ok((consumer, event)) => {
                attempt(consumer, &outbox_relay::message(event), &failure).await?;
            }
            Err(error) if error.is_passing() => return Err(error),
            Err(error) => note_again(app, &failure, &error).await?,
        }
    }
    Ok(taken_up)
}

/// The event that the failed message was made of, read anew.
async fn event_of(
    app: &App,
    failure: &message_failure::Model,
) -> Result<(Consumer, order_event::Model)> {
    let gone = || Error::Internal("its event or its consumer is not there".to_owned());
    let consumer = Consumer::named(&failure.consumer).ok_or_else(gone)?;
    let event = repositories::order_event::find(app.db.read(), failure.event_id).await?;
    Ok((consumer, event.ok_or_else(gone)?))
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

fn log_failure(failed: &message_failure::Model) {
    warn!(
        consumer = failed.consumer.as_str(), event = failed.event_id, attempts = failed.attempts,
        dead = failed.dead_at.is_some(), cause = failed.last_error.as_str();
        "a consumer failed on a message"
    );
}

/// Raises an alert when the message is dead after this attempt.
async fn bury(tx: &Transaction, failed: &message_failure::Model, now: DateTime<Utc>) -> Result<()> {
    if failed.dead_at.is_none() {
        return Ok(());
    }
    let subject = format!("{}:{}", failed.consumer, failed.event_id);
    let detail = "a message failed so often that it is not tried any more; replay it after the fix";
    let about = (failed.order_id, detail);
    alerts::raise_again(tx, alerts::Kind::DeadMessage, &subject, about, now).await
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
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Not(error) => Some(error),
            Self::Already => None,
        }
    }
}

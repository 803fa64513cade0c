//! Whether this instance should get requests. It needs the database and order ids; without Redis or the broker it still
//! serves.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::database::Trouble;
use crate::events::Bus;

/// The state of an instance, or of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready,
    /// Serving, although Redis or the broker is missing.
    Degraded,
    Down,
}

/// The state of the instance and of each part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Readiness {
    pub status: State,
    pub database: State,
    /// Ids for new orders; down while the clock is behind the times reserved under every node number.
    pub ids: State,
    /// Where the gate and the locks are kept; ready also when the settings keep them in this process.
    pub redis: State,
    /// The event bus; while it is away, events wait in the outbox.
    pub event_bus: State,
    /// Why a part is not ready. `database`: `unreachable`, `too_many_connections`, `read_only`, `full`,
    /// `io_error`, `file_gone`, `damaged`, `commit_fails`; `ids`: `clock_behind`; `redis`: `unreachable`;
    /// `event_bus`: `unreachable`, `blocked`.
    pub reasons: BTreeMap<&'static str, &'static str>,
}

pub async fn check(app: &App) -> Readiness {
    let database = app.db.trouble().await.map(Trouble::name);
    let ids = app.ids.trouble().await;
    let redis = (!app.store.is_reachable().await).then_some("unreachable");
    let event_bus = app.bus.trouble();
    let needed = |trouble: Option<_>| trouble.map_or(State::Ready, |_| State::Down);
    let spared = |trouble: Option<_>| trouble.map_or(State::Ready, |_| State::Degraded);
    let parts = [
        ("database", database),
        ("ids", ids),
        ("redis", redis),
        ("event_bus", event_bus),
    ];
    let reasons = parts
        .into_iter()
        .filter_map(|(part, reason)| Some((part, reason?)))
        .collect();
    let status = match (database.or(ids), redis.or(event_bus)) {
        (Some(_), _) => State::Down,
        (None, Some(_)) => State::Degraded,
        (None, None) => State::Ready,
    };
    Readiness {
        status,
        database: needed(database),
        ids: needed(ids),
        redis: spared(redis),
        event_bus: spared(event_bus),
        reasons,
    }
}

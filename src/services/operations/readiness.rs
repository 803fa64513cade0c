//! Whether this instance should get requests: it needs the database and order ids, and does without Redis and a broker.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::database::Trouble;
use crate::events::Bus;

/// How an instance or a part of it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready,
    /// Serving, with something missing that only spares work.
    Degraded,
    Down,
}

/// The whole and its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Readiness {
    pub status: State,
    pub database: State,
    /// Numbers for new orders; down while the clock is behind all that were reserved.
    pub ids: State,
    /// Where the gate and the locks are kept; ready when that is this process.
    pub redis: State,
    /// The event bus; what happened waits in the outbox while it is away.
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

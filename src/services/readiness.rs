//! Whether this instance should get requests: it needs the database, and does without Redis and a broker.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Readiness {
    pub status: State,
    pub database: State,
    /// Where the gate and the locks are kept; ready when that is this process.
    pub redis: State,
    /// The event bus; what happened waits in the outbox while it is away.
    pub event_bus: State,
}

pub async fn check(app: &App) -> Readiness {
    let database = if app.db.is_reachable().await {
        State::Ready
    } else {
        State::Down
    };
    let redis = if app.store.is_reachable().await {
        State::Ready
    } else {
        State::Degraded
    };
    let event_bus = if app.bus.is_reachable() {
        State::Ready
    } else {
        State::Degraded
    };
    let status = match (database, redis, event_bus) {
        (State::Ready, State::Ready, State::Ready) => State::Ready,
        (State::Ready, _, _) => State::Degraded,
        _ => State::Down,
    };
    Readiness {
        status,
        database,
        redis,
        event_bus,
    }
}

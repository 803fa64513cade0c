//! Admission of keyed requests: the gate lets the same request in one at a time.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::app::App;
use crate::error::{Error, Result};
use crate::idempotency::gate::{Claim, GateGuard};
use crate::idempotency::{IdempotentContext, Key};
use crate::metrics::Layer;

enum Passed<T> {
    First(GateGuard),
    Replay(T),
    /// Runs without the gate: it marks the key as done but the database has no record, or there is no key.
    Unguarded,
}

/// Runs `work` for the first of several equal requests. The others are answered with what `look` finds in the
/// database, or with [`Error::InProgress`] while it finds nothing.
///
/// After a success the gate marks the key as done for `memory`; after a failure the key is free again.
pub async fn once<B, T>(
    app: &App,
    request: &IdempotentContext<B>,
    memory: Duration,
    look: impl AsyncFn() -> Result<Option<T>>,
    work: impl AsyncFnOnce() -> Result<T>,
) -> Result<T> {
    let guard = match pass(app, request, look).await? {
        Passed::Replay(answer) => return Ok(answer),
        Passed::Unguarded => return work().await,
        Passed::First(guard) => guard,
    };
    let answer = work().await;
    if answer.is_ok() {
        guard.complete(memory).await;
    } else {
        guard.abandon().await;
    }
    answer
}

async fn pass<B, T>(
    app: &App,
    request: &IdempotentContext<B>,
    look: impl AsyncFn() -> Result<Option<T>>,
) -> Result<Passed<T>> {
    if let Key::Generated(_) = request.key {
        return Ok(Passed::Unguarded);
    }
    let key = BASE64_URL_SAFE_NO_PAD.encode(request.record_id());
    let fingerprint = BASE64_URL_SAFE_NO_PAD.encode(request.fingerprint);
    let lease = app.settings.gate.lease;
    match app.gate.claim(&key, &fingerprint, lease).await {
        Claim::Acquired(guard) => Ok(Passed::First(guard)),
        Claim::Reused => Err(Error::KeyReused),
        Claim::Done => Ok(look().await?.map_or(Passed::Unguarded, Passed::Replay)),
        Claim::InProgress => {
            if let Some(answer) = look().await? {
                return Ok(Passed::Replay(answer));
            }
            app.metrics.intercepted(Layer::Gate, request.operation);
            Err(Error::InProgress { layer: Layer::Gate })
        }
    }
}

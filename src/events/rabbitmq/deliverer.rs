//! Delivering messages to the consumers for as long as the process runs, on a new connection whenever one is lost.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lapin::ConnectionStatus;
use log::{info, warn};
use tokio::time::sleep;

use super::broker::Broker;
use super::pauses::Pauses;
use super::session::Session;
use crate::domain::events::Consumer;
use crate::error::Result;
use crate::events::bus::Message;

#[derive(Debug, Default)]
pub(super) struct Deliverer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    /// Nobody delivers.
    #[default]
    Idle,
    Away,
    Connected(ConnectionStatus),
}

/// Marks that messages are being delivered; dropped, it sets the state back to nobody delivering.
struct Running<'a>(&'a Deliverer);

impl Deliverer {
    /// Never returns.
    pub(super) async fn deliver(
        &self,
        broker: &Broker,
        unreadable: &AtomicU64,
        take: &impl AsyncFn(Consumer, &Message) -> Result<()>,
    ) {
        let _running = Running(self);
        self.becomes(State::Away);
        let mut pauses = Pauses::to_the_broker();
        let mut told = false;
        loop {
            let reason = match Box::pin(Session::open(broker, unreadable)).await {
                Ok(session) => {
                    self.begins(&session, told);
                    told = false;
                    pauses.reset();
                    session.run(take).await
                }
                Err(reason) => reason,
            };
            self.becomes(State::Away);
            if !told {
                warn!(error = reason.as_str(); "the broker is away; events wait in the outbox");
                told = true;
            }
            sleep(pauses.take()).await;
        }
    }

    /// `None` when nobody delivers.
    pub(super) fn is_connected(&self) -> Option<bool> {
        match &*self.state() {
            State::Idle => None,
            State::Away => Some(false),
            State::Connected(status) => Some(status.connected()),
        }
    }

    fn begins(&self, session: &Session<'_>, was_away: bool) {
        self.becomes(State::Connected(session.status()));
        if was_away {
            info!("the broker is back");
        }
    }

    fn becomes(&self, state: State) {
        *self.state() = state;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.becomes(State::Idle);
    }
}

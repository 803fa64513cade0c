//! The gate: of the same request many times at once, one is let in. Done is a hint; the database knows.

use std::time::Duration;

use uuid::Uuid;

use super::{
    entry::{Entry, Taken},
    fallback_store::FallbackStore,
};

/// What a claim found.
#[derive(Debug)]
pub enum Claim {
    /// The caller is let in and ends the claim by its guard.
    Acquired(GateGuard),
    /// The same request is under way.
    InProgress,
    /// Another request is under way under the same key.
    Reused,
    /// A request under this key was completed; the database knows which, and whether it is the same.
    Done,
}

/// Shared by all requests of the process; a clone is the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    store: FallbackStore,
}

impl Gate {
    pub fn new(store: FallbackStore) -> Self {
        Self { store }
    }

    /// Lets one caller in per `key`; the claim ends after `lease` if its holder is never heard of again. Never fails:
    /// while Redis is away the crowd is stopped at each instance.
    pub async fn claim(&self, key: &str, fingerprint: &str, lease: Duration) -> Claim {
        let key = self.store.key("gate", key);
        let ours = format!("{CLAIMED}{}:{fingerprint}", Uuid::new_v4().simple());
        match self.store.take(&key, &ours, lease).await {
            Taken::Ours(entry) => Claim::Acquired(GateGuard {
                entry,
                fingerprint: fingerprint.to_owned(),
            }),
            Taken::Theirs(theirs) => read(&theirs, fingerprint),
        }
    }
}

/// The right to run a request. Dropped without an end (a panic, a cancelled request), the claim is given back by best
/// effort.
#[derive(Debug)]
#[must_use = "a guard that is dropped gives its claim back"]
pub struct GateGuard {
    entry: Entry,
    fingerprint: String,
}

impl GateGuard {
    /// Marks the key as done for `ttl`. A claim whose lease was lost changes nothing.
    pub async fn complete(self, ttl: Duration) {
        self.entry
            .replace(&format!("{DONE}{}", self.fingerprint), ttl)
            .await;
    }

    /// Frees the key: the request failed without effect and may be tried again. A claim whose lease was lost changes
    /// nothing.
    pub async fn abandon(self) {
        self.entry.remove().await;
    }
}

/// A claim is this, a random owner, a colon and the fingerprint.
const CLAIMED: &str = "claimed:";
/// A mark is this and the fingerprint.
const DONE: &str = "done:";

fn read(entry: &str, fingerprint: &str) -> Claim {
    if entry.starts_with(DONE) {
        return Claim::Done;
    }
    let claimed = entry
        .strip_prefix(CLAIMED)
        .and_then(|rest| rest.split_once(':'));
    match claimed {
        Some((_, theirs)) if theirs != fingerprint => Claim::Reused,
        _ => Claim::InProgress,
    }
}

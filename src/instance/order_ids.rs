//! Snowflake ids under a leased node number: minting costs no I/O while the lease holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use entity::OrderId;
use entity::lease::Model;
use log::warn;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::clock::Clock;
use crate::database::{Database, Single};
use crate::domain::snowflake::{NODES, Pause, Snowflake};
use crate::error::{Error, Result};
use crate::repositories::lease::{self, Claim};

const PREFIX: &str = "node:";
/// How far a clock may have stepped back for minting to wait instead of refusing.
const SHORT_STEP: Duration = Duration::from_millis(50);
/// How often a node number is looked for when others take the one that was found.
const TRIES: u32 = 20;

/// The ids of one process.
#[derive(Debug)]
pub struct OrderIds {
    db: Database,
    clock: Clock,
    holder: String,
    length: Duration,
    node: Mutex<Option<Node>>,
    /// Whether the last mint was refused because of the clock.
    is_behind: AtomicBool,
}

/// A node number while its lease holds.
#[derive(Debug)]
struct Node {
    name: String,
    snowflake: Snowflake,
    /// Unix milliseconds up to which ids may be minted; the lease's row says the same.
    reserved_ms: i64,
    /// By a clock that counts suspension: a paused process does not mint.
    holds_until: Duration,
}

impl OrderIds {
    /// No node number is taken before the first id.
    pub fn new(db: Database, clock: Clock, length: Duration) -> Self {
        Self {
            db,
            clock,
            holder: Uuid::new_v4().to_string(),
            length,
            node: Mutex::new(None),
            is_behind: AtomicBool::new(false),
        }
    }

    /// A new order id; renews or takes a node number when the lease has run out, or when the clock
    /// stepped back further than a short wait: what was minted under the old number lies ahead of it.
    ///
    /// [`Error::ClockBehind`] when all numbers were used by a clock that was ahead.
    pub async fn mint(&self) -> Result<OrderId> {
        let minted = self.try_mint().await;
        let is_behind = matches!(minted, Err(Error::ClockBehind));
        self.is_behind.store(is_behind, Ordering::Relaxed);
        minted
    }

    /// Why no id can be minted; it ends by itself, also when nobody asks for an id.
    pub async fn trouble(&self) -> Option<&'static str> {
        let is_over = !self.is_behind.load(Ordering::Relaxed)
            || !matches!(self.mint().await, Err(Error::ClockBehind));
        (!is_over).then_some("clock_behind")
    }

    async fn try_mint(&self) -> Result<OrderId> {
        let mut place = self.node.lock().await;
        for _ in 0..TRIES {
            let now_ms = self.clock.now().timestamp_millis();
            let node = match place.take() {
                Some(node) if since_boot() < node.holds_until => node,
                expired => self.lease(self.db.write(), expired, now_ms).await?,
            };
            let node = place.insert(node);
            match node.snowflake.next(now_ms, node.reserved_ms) {
                Ok(id) => return Ok(OrderId(id)),
                Err(Pause::ClockBehind(by)) if by <= SHORT_STEP => tokio::time::sleep(by).await,
                Err(Pause::ClockBehind(by)) => {
                    let given_up = place.take();
                    self.give_up(self.db.write(), given_up, by).await;
                }
                Err(Pause::Unreserved) => node.holds_until = Duration::ZERO,
            }
        }
        Err(Error::ClockBehind)
    }

    /// Its row stays and says up to when it was used: whoever has a clock behind that takes another.
    async fn give_up(&self, db: &Single, node: Option<Node>, by: Duration) {
        let Some(node) = node else { return };
        let (name, behind) = (node.name.as_str(), by.as_secs());
        warn!(node = name, behind; "the clock stepped back by seconds; another node number is taken");
        if let Err(error) = lease::end(db, name, &self.holder).await {
            warn!(node = name, cause:% = error; "the node number is free only when its lease has run out");
        }
    }

    /// Renews the lease that was held, or takes another number.
    async fn lease(&self, db: &Single, held: Option<Node>, now_ms: i64) -> Result<Node> {
        if let Some(mut node) = held {
            let asked_at = since_boot();
            let reserved_ms = self.ahead_of(now_ms).max(node.reserved_ms);
            if lease::renew(db, &self.claim(&node.name, reserved_ms)).await? {
                node.reserved_ms = reserved_ms;
                node.holds_until = self.until(asked_at);
                return Ok(node);
            }
        }
        for _ in 0..TRIES {
            if let Some(node) = self.take(db, now_ms).await? {
                return Ok(node);
            }
        }
        Err(Error::Busy)
    }

    /// Takes the lowest number that nobody holds; `None` when somebody was faster.
    ///
    /// Restarting does not wait for the old lease: it takes another number.
    async fn take(&self, db: &Single, now_ms: i64) -> Result<Option<Node>> {
        let leases = lease::with_prefix(db, PREFIX).await?;
        let Some(number) = (0..NODES).find(|number| is_free(*number, &leases, now_ms)) else {
            let all_run = leases.iter().all(|(_, is_running)| *is_running);
            return Err(if all_run {
                Error::Internal("all 1,024 node numbers are in use".to_owned())
            } else {
                Error::ClockBehind
            });
        };
        let name = format!("{PREFIX}{number}");
        let asked_at = since_boot();
        let reserved_ms = self.ahead_of(now_ms);
        let claim = self.claim(&name, reserved_ms);
        let seen = leases
            .iter()
            .map(|(lease, _)| lease)
            .find(|lease| lease.name == name);
        let (taken, after_ms) = match seen {
            Some(seen) => (lease::take_over(db, seen, &claim).await?, seen.reserved),
            None => (lease::insert(db, &claim).await?, now_ms - 1),
        };
        let snowflake = Snowflake::new(number, after_ms);
        let holds_until = self.until(asked_at);
        Ok(taken.then_some(Node {
            name,
            snowflake,
            reserved_ms,
            holds_until,
        }))
    }

    fn claim<'a>(&'a self, name: &'a str, reserved: i64) -> Claim<'a> {
        Claim {
            name,
            holder: &self.holder,
            length: self.length,
            reserved,
        }
    }

    /// Milliseconds are reserved for as long as the lease lasts.
    fn ahead_of(&self, now_ms: i64) -> i64 {
        now_ms.saturating_add(i64::try_from(self.length.as_millis()).unwrap_or(i64::MAX))
    }

    /// The process stops minting well before the database would give the number away.
    fn until(&self, asked_at: Duration) -> Duration {
        asked_at + self.length * 2 / 3
    }
}

/// Nobody holds it, and what its last holder may have minted lies in the past.
fn is_free(number: i64, leases: &[(Model, bool)], now_ms: i64) -> bool {
    let name = format!("{PREFIX}{number}");
    let found = leases.iter().find(|(lease, _)| lease.name == name);
    found.is_none_or(|(lease, running)| !running && lease.reserved < now_ms)
}

/// Since the machine started, suspension included.
fn since_boot() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

//! The lease of a scheduled job: only the instance that holds it does the work, and renews it meanwhile.

use std::future::Future;
use std::time::Instant;

use log::warn;

use crate::app::App;
use crate::deadline;
use crate::error::{Error, Result};
use crate::repositories::lease::{self, Claim};
use crate::repositories::order_event;

/// What came of work that only one instance may do at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held<T> {
    Done(T),
    /// Nothing was done: the named instance holds the lease; it is at work, or it crashed less than a lease ago.
    ByAnother(String),
}

/// Does `work` while this process holds the lease `name`, and gives it back at the end.
///
/// A lease that is lost on the way (the process was paused, the database away) ends the work where
/// it is, with an error; the work must survive that like a crash.
pub async fn hold<T>(
    app: &App,
    name: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<Held<T>> {
    let claim = Claim {
        name,
        holder: app.instance(),
        length: app.settings.jobs.lease,
        reserved: 0,
    };
    // Read the lease first: that costs less than a lost race, and finds connections that died meanwhile.
    if let Some(holder) = holder(app, name).await? {
        return Ok(Held::ByAnother(holder));
    }
    while !lease::take(app.db.write(), &claim).await? {
        if let Some(holder) = holder(app, name).await? {
            return Ok(Held::ByAnother(holder));
        }
    }
    let outcome = tokio::select! {
        outcome = work => outcome,
        () = until_lost(app, &claim) => Err(Error::Internal(format!(
            "the lease {name} was lost on the way; what was begun is finished by the next run"
        ))),
    };
    if let Err(error) = lease::delete(app.db.write(), name, app.instance()).await {
        warn!(lease = name, error:% = error; "a lease was not given back; it ends by itself");
    }
    outcome.map(Held::Done)
}

/// Gives back the leases that this instance's jobs and relay still hold when they are cut off at a shutdown.
pub async fn give_back(app: &App) -> Result<()> {
    for kind in ["job:", order_event::CLAIM] {
        lease::delete_all(app.db.write(), kind, app.instance()).await?;
    }
    Ok(())
}

/// The instance that holds the lease, if it still runs.
async fn holder(app: &App, name: &str) -> Result<Option<String>> {
    let leases = lease::with_prefix(app.db.read(), name).await?;
    let held = leases
        .into_iter()
        .find(|(lease, running)| *running && lease.name == name);
    Ok(held.map(|(lease, _)| lease.holder))
}

/// Renews the lease after each third of its length; returns when it is no longer ours.
async fn until_lost(app: &App, claim: &Claim<'_>) {
    let mut renewed = Instant::now();
    while renewed.elapsed() < claim.length {
        tokio::time::sleep(claim.length / 3).await;
        let asked = Instant::now();
        let renewal = lease::renew(app.db.write(), claim);
        match deadline::within(claim.length / 3, renewal).await {
            Ok(true) => renewed = asked,
            Ok(false) => return,
            Err(error) => {
                warn!(lease = claim.name, error:% = error; "a lease was not renewed this time");
            }
        }
    }
}

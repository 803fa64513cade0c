//! Work that one instance does at a time: under a lease in the database, renewed while it lasts.

use std::future::Future;
use std::time::Instant;

use log::warn;

use crate::app::App;
use crate::deadline;
use crate::error::{Error, Result};
use crate::repositories::lease::{self, Claim};
use crate::repositories::order_event;

/// What came of work that only one may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held<T> {
    Done(T),
    /// Nothing was done: this instance is at it, or died less than a lease ago.
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
    // A look first: it costs less than a lost race, and finds out whether connections died meanwhile.
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

/// Gives back all that jobs and the relay of this instance held when they were cut off.
pub async fn give_back(app: &App) -> Result<()> {
    for kind in ["job:", order_event::CLAIM] {
        lease::delete_all(app.db.write(), kind, app.instance()).await?;
    }
    Ok(())
}

/// Who holds a lease that still runs.
async fn holder(app: &App, name: &str) -> Result<Option<String>> {
    let leases = lease::with_prefix(app.db.read(), name).await?;
    let held = leases
        .into_iter()
        .find(|(lease, running)| *running && lease.name == name);
    Ok(held.map(|(lease, _)| lease.holder))
}

/// Renews the lease three times in its length; returns when it is no longer ours.
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

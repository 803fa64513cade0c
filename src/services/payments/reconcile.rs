//! The scheduled job that makes up for lost callbacks: it queries gateways about live attempts, ends retired ones, and
//! raises alerts about callbacks that wait too long.

use chrono::{DateTime, TimeDelta, Utc};
use entity::payment_callback::Outcome;

use super::gateway_calls;
use super::gateway_queries::{self, Told};
use crate::app::App;
use crate::error::Result;
use crate::repositories;
use crate::services::operations::alerts;

/// How many attempts one run asks about.
const BATCH: u64 = 100;
/// How long a callback may take to come before the gateway is queried.
const GRACE: TimeDelta = TimeDelta::minutes(1);
/// A kind of callback that waits, and after how long that raises an alert.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    outcome: Outcome,
    patience: TimeDelta,
    alert: alerts::Kind,
    detail: &'static str,
}

impl Waiting {
    const PARKED: Self = Self {
        outcome: Outcome::Parked,
        patience: TimeDelta::hours(1),
        alert: alerts::Kind::CallbackParked,
        detail: "a callback waits for another one that does not come; ask the gateway",
    };
    /// Gateways repeat a callback that was answered with a failure for up to three days.
    const UNRESOLVED: Self = Self {
        outcome: Outcome::Unresolved,
        patience: TimeDelta::days(3),
        alert: alerts::Kind::CallbackUnresolved,
        detail: "a callback names an attempt that nobody here knows; ask the gateway",
    };
}

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub asked: usize,
    /// Attempts that turned out to be paid although no callback had come.
    pub paid: usize,
    pub ended: usize,
    pub silent: usize,
}

/// One round; stops between two attempts when the instance stops.
pub async fn run(app: &App) -> Result<Done> {
    let mut done = ask_live_attempts(app).await?;
    let closings = gateway_calls::close_attempts(app).await?;
    done.asked += closings.asked;
    done.ended += closings.asked - closings.unknown;
    done.silent += closings.unknown;
    let now = app.clock.now();
    tell_of(app, Waiting::PARKED, now).await?;
    tell_of(app, Waiting::UNRESOLVED, now).await?;
    Ok(done)
}

/// Attempts of orders that can still be paid; those of overdue ones are asked about before they close.
async fn ask_live_attempts(app: &App) -> Result<Done> {
    let mut done = Done::default();
    let now = app.clock.now();
    let live = repositories::payment::due_to_ask(app.db.read(), now, now - GRACE, BATCH).await?;
    for payment in live {
        if app.is_stopping() {
            break;
        }
        // Once its time is over it is asked about at once.
        let again = gateway_queries::next_ask(payment.asks, now).min(payment.expires_at);
        if !repositories::payment::note_ask(app.db.write(), &payment, again).await? {
            continue;
        }
        done.asked += 1;
        let told = gateway_queries::ask(app, &payment).await;
        match gateway_calls::or_unknown(told, payment.order_id, Told::Silent)? {
            Told::Paid => done.paid += 1,
            Told::Ended => done.ended += 1,
            Told::Open => {}
            Told::Silent => done.silent += 1,
        }
    }
    Ok(done)
}

/// Raises one alert for each callback that has waited too long.
async fn tell_of(app: &App, waiting: Waiting, now: DateTime<Utc>) -> Result<()> {
    let Waiting {
        outcome,
        patience,
        alert,
        detail,
    } = waiting;
    let db = app.db.read();
    let before = now - patience;
    let name = alert.name();
    for callback in repositories::payment_callback::waiting_since(db, outcome, before, name).await?
    {
        let subject = callback.id.to_string();
        let about = (callback.order_id, detail);
        app.db
            .transaction(async |tx| alerts::raise(tx, alert, &subject, about, now).await)
            .await?;
    }
    Ok(())
}

//! `order-service audit`: proves from the data that nothing happened twice, in one read-only snapshot.
//!
//! [`run`] executes the rules, each an SQL query that finds the rows that break it: `checks` (orders and stock),
//! `payment_checks` (money), `event_checks` (events, consumers, points) and `archive_checks` (rows that left the tables).

mod archive_checks;
mod checks;
mod event_checks;
mod payment_checks;

use std::fmt;

use crate::database::{Database, Transaction};
use crate::domain::slot::active_slot;
use crate::error::Result;
use crate::repositories::audit as rows;
use crate::settings::Settings;

/// A row that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    /// Which row breaks it.
    pub subject: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.subject)
    }
}

/// Every violation of every rule; empty when the data is right.
pub async fn run(db: &Database, settings: &Settings) -> Result<Vec<Violation>> {
    db.snapshot(async |snapshot| every(snapshot, settings).await)
        .await
}

async fn every(snapshot: &Transaction, settings: &Settings) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    let fixed = checks::ALL
        .iter()
        .chain(&payment_checks::ALL)
        .chain(&event_checks::ALL)
        .chain(&archive_checks::ALL);
    for check in fixed {
        violations.extend(broken(snapshot, check.rule, check.sql).await?);
    }
    if settings.rabbitmq.url.is_empty() {
        let sql = event_checks::not_consumed();
        violations.extend(broken(snapshot, event_checks::NOT_CONSUMED, &sql).await?);
    }
    violations.extend(wrong_slots(snapshot).await?);
    Ok(violations)
}

async fn broken(snapshot: &Transaction, rule: &'static str, sql: &str) -> Result<Vec<Violation>> {
    let subjects = rows::subjects(snapshot, sql).await?;
    let violation = |subject| Violation { rule, subject };
    Ok(subjects.into_iter().map(violation).collect())
}

/// Checks the slots by the function in `domain` that also writes them, once for each kind of row that exists.
async fn wrong_slots(snapshot: &Transaction) -> Result<Vec<Violation>> {
    let kinds = rows::slot_kinds(snapshot).await?;
    let wrong = kinds
        .into_iter()
        .filter(|kind| active_slot(kind.policy, kind.status, kind.order_id) != kind.active_slot);
    Ok(wrong
        .map(|kind| Violation {
            rule: "a slot is not what policy and status say",
            subject: format!("order {} and {} more items", kind.order_id, kind.items - 1),
        })
        .collect())
}

//! `order-service audit`: proves from the data that nothing happened twice, in one read-only snapshot.

mod checks;
mod payment_checks;

use std::fmt;

use sea_orm::{AccessMode, DatabaseTransaction, IsolationLevel, TransactionTrait};

use crate::database::Database;
use crate::domain::slot::active_slot;
use crate::error::Result;
use crate::repositories::audit as rows;

/// One thing that should not be.
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
pub async fn run(db: &Database) -> Result<Vec<Violation>> {
    let isolation = match db.backend() {
        sea_orm::DbBackend::MySql => Some(IsolationLevel::RepeatableRead),
        _ => None,
    };
    let access = isolation.map(|_| AccessMode::ReadOnly);
    let snapshot = db.read().begin_with_config(isolation, access).await?;
    let mut violations = Vec::new();
    for check in checks::ALL.iter().chain(&payment_checks::ALL) {
        for subject in rows::subjects(&snapshot, check.sql).await? {
            violations.push(Violation {
                rule: check.rule,
                subject,
            });
        }
    }
    violations.extend(wrong_slots(&snapshot).await?);
    snapshot.rollback().await?;
    Ok(violations)
}

/// The rule of the slots stands in `domain`; the few kinds of rows that there are go through it.
async fn wrong_slots(snapshot: &DatabaseTransaction) -> Result<Vec<Violation>> {
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

//! Alerts: problems that a person must look at, raised in the transaction that found them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use entity::{OrderId, alert};

use crate::clock::Clock;
use crate::database::{Database, Transaction};
use crate::error::Result;
use crate::repositories;

/// What an alert is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A signed message whose amount, currency or order is not ours.
    PaymentMismatch,
    /// One attempt was paid twice.
    DoubleCharge,
    /// Money came for an order that needs none.
    SurplusPayment,
    /// The gateway refunded more than was paid.
    OverRefund,
    /// A refund failed for good.
    RefundFailed,
    /// The gateway takes back a refund that had succeeded.
    RefundReversed,
    /// A message failed until nobody tries it any more.
    DeadMessage,
    /// A gateway has not said for hours how a payment or a refund ended.
    GatewaySilent,
    /// A callback waits for another message that does not come.
    CallbackParked,
    /// A callback names an attempt that nobody knows.
    CallbackUnresolved,
    /// A lock's lease was lost while its holder was at work.
    LockLost,
}

impl Kind {
    /// The name that operators filter by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaymentMismatch => "payment_mismatch",
            Self::DoubleCharge => "double_charge",
            Self::SurplusPayment => "surplus_payment",
            Self::OverRefund => "over_refund",
            Self::RefundFailed => "refund_failed",
            Self::RefundReversed => "refund_reversed",
            Self::DeadMessage => "dead_message",
            Self::GatewaySilent => "gateway_silent",
            Self::CallbackParked => "callback_parked",
            Self::CallbackUnresolved => "callback_unresolved",
            Self::LockLost => "lock_lost",
        }
    }
}

/// Raises an alert; a second one of the same kind and subject changes nothing.
pub async fn raise(
    tx: &Transaction,
    kind: Kind,
    subject: &str,
    (order, detail): (OrderId, &str),
    now: DateTime<Utc>,
) -> Result<()> {
    let row = alert::Model {
        id: 0,
        kind: kind.name().to_owned(),
        subject: subject.to_owned(),
        order_id: order,
        detail: detail.to_owned(),
        created_at: now,
        acknowledged_at: None,
    };
    Ok(repositories::alert::raise(tx, row).await?)
}

/// Raises an alert about something that may happen again: one that was acknowledged is opened again.
pub async fn raise_again(
    tx: &Transaction,
    kind: Kind,
    subject: &str,
    (order, detail): (OrderId, &str),
    now: DateTime<Utc>,
) -> Result<()> {
    raise(tx, kind, subject, (order, detail), now).await?;
    Ok(repositories::alert::reopen(tx, kind.name(), subject, now).await?)
}

/// The hook that a lost lock calls: it raises an alert in a task of its own, by best effort.
pub fn on_lock_lost(db: Database, clock: Clock) -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(move |lock| {
        let (db, clock, lock) = (db.clone(), clock.clone(), lock.to_owned());
        actix_web::rt::spawn(async move {
            let detail = "a lock's lease was lost while its holder was at work";
            let now = clock.now();
            let raised = db
                .transaction(async |tx| {
                    raise(tx, Kind::LockLost, &lock, (OrderId(0), detail), now).await
                })
                .await;
            if let Err(error) = raised {
                log::log!(error.level(), lock = lock.as_str(), cause = error.cause(); "an alert was not raised");
            }
        });
    })
}

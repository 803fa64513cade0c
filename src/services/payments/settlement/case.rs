//! One order with its attempts under lock, as the steps of a settlement change it.

use chrono::{DateTime, Utc};
use entity::payment_callback::{self, Kind, Outcome};
use entity::{OrderId, PaymentId, order, payment, refund};
use sea_orm::DbErr;

use super::obstacle::Obstacle;
use crate::database::Transaction;
use crate::domain::gateway_message::GatewayMessage;
use crate::domain::settlement::{self, Verdict};
use crate::error::{Error, Result};
use crate::repositories;
use crate::services::operations::alerts;
use crate::services::orders::order_status::{self, Note};

/// The actor in events of an order that a gateway's message moved.
pub const ACTOR: &str = "gateway";

pub struct Case<'a> {
    pub tx: &'a Transaction,
    pub now: DateTime<Utc>,
    pub order: order::Model,
    pub payments: Vec<payment::Model>,
    /// The attempt that the message is about.
    at: usize,
    /// Read when a step needs them.
    refunds: Option<Vec<refund::Model>>,
}

impl<'a> Case<'a> {
    pub fn new(
        tx: &'a Transaction,
        order: order::Model,
        payments: Vec<payment::Model>,
        payment: PaymentId,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let at = payments.iter().position(|known| known.id == payment);
        let at = at.ok_or(Error::NotFound)?;
        Ok(Self {
            tx,
            now,
            order,
            payments,
            at,
            refunds: None,
        })
    }

    pub fn payment(&self) -> &payment::Model {
        &self.payments[self.at]
    }

    pub fn payment_mut(&mut self) -> &mut payment::Model {
        &mut self.payments[self.at]
    }

    /// The refunds of the attempt.
    pub async fn refunds(&mut self) -> Result<&mut Vec<refund::Model>> {
        if self.refunds.is_none() {
            let read = repositories::refund::of_payment(self.tx, self.payment().id).await?;
            self.refunds = Some(read);
        }
        Ok(self.refunds.get_or_insert_default())
    }

    pub async fn judge(&mut self, message: &GatewayMessage) -> Result<Verdict> {
        if !matches!(message.kind, Kind::RefundSucceeded | Kind::RefundFailed) {
            return Ok(settlement::judge(
                &self.order,
                &self.payments,
                self.payment(),
                message,
            ));
        }
        let refunds = self.refunds().await?.clone();
        Ok(settlement::judge_refund(
            &self.order,
            self.payment(),
            &refunds,
            message,
        ))
    }

    /// Inserts the message's record, or writes the new judgement over the one that was `seen`.
    pub async fn write(
        &self,
        message: &GatewayMessage,
        outcome: Outcome,
        seen: Option<&payment_callback::Model>,
    ) -> Result<(), Obstacle> {
        let row = row(message, self.order.id, outcome, self.now);
        let Some(seen) = seen else {
            return Ok(repositories::payment_callback::insert(self.tx, row).await?);
        };
        if repositories::payment_callback::judge_again(self.tx, seen, &row).await? {
            Ok(())
        } else {
            Err(Obstacle::Repeated)
        }
    }

    pub async fn alert(&self, kind: alerts::Kind, subject: &str, detail: &str) -> Result<()> {
        alerts::raise(self.tx, kind, subject, (self.order.id, detail), self.now).await
    }

    /// Writes an event that does not change the order's status.
    pub async fn tell(&mut self, kind: &str, payload: serde_json::Value) -> Result<()> {
        let note = Note::new(ACTOR, payload);
        let order = self.order.clone();
        self.order = order_status::tell(self.tx, order, kind, note, self.now).await?;
        Ok(())
    }
}

/// The record of a message.
pub fn row(
    message: &GatewayMessage,
    order: OrderId,
    outcome: Outcome,
    now: DateTime<Utc>,
) -> payment_callback::Model {
    payment_callback::Model {
        id: 0,
        gateway: message.gateway.clone(),
        event_id: message.event_id.clone(),
        biz_key: if outcome.is_final() {
            message.biz_key()
        } else {
            message.event_key()
        },
        kind: message.kind,
        payment_id: message.payment_id,
        order_id: order,
        trade_no: message.trade_no.clone(),
        refund_no: message.refund_no.clone(),
        amount: message.amount,
        currency: message.currency.clone(),
        event_time: message.event_time,
        outcome,
        deliveries: 1,
        raw: message.raw.clone(),
        created_at: now,
        updated_at: now,
    }
}

/// Fails when a conditional update changed no row although its row is locked, which can only be a defect of ours.
pub fn expect_changed(changed: Result<bool, DbErr>) -> Result<()> {
    if changed? {
        return Ok(());
    }
    Err(Error::Internal(
        "a locked row was changed by another".to_owned(),
    ))
}

//! The sandbox's messages on their way: over real HTTP, again and again until they are accepted.

use chrono::{DateTime, TimeDelta, Utc};
use entity::sandbox_message::{ActiveModel, Column, Entity, Model};
use entity::{PaymentId, sandbox_payment};
use futures_util::future::join_all;
use sea_orm::ActiveValue::{NotSet, Set, Unchanged};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use serde_json::{Value, json};

use super::{Sandbox, signature};
use crate::domain::due::latest;

/// Seconds between a refused delivery and the next; then it gives up.
const RETRIES: [i64; 12] = [1, 2, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600];
/// Messages that are taken up at once.
const BATCH: u64 = 50;

/// What the sandbox has to tell.
#[derive(Debug, Clone)]
pub struct Telling {
    pub kind: &'static str,
    pub amount: i64,
    pub refund_no: Option<String>,
    pub copies: i32,
    pub forged: bool,
}

impl Telling {
    /// An honest message, once.
    pub const fn once(kind: &'static str, amount: i64) -> Self {
        Self {
            kind,
            amount,
            refund_no: None,
            copies: 1,
            forged: false,
        }
    }
}

impl Sandbox {
    /// Notes a message; it goes out with the next delivery.
    pub async fn tell(
        &self,
        payment: &sandbox_payment::Model,
        telling: Telling,
    ) -> Result<(), DbErr> {
        let now = self.clock.now();
        let trade_no = if payment.trade_no.is_empty() {
            trade_no(payment.payment_id)
        } else {
            payment.trade_no.clone()
        };
        let mut data = json!({
            "payment_id": payment.payment_id,
            "order_id": payment.order_id,
            "trade_no": trade_no,
            "amount": telling.amount,
            "currency": payment.currency,
        });
        if let Some(refund_no) = telling.refund_no {
            data["refund_no"] = json!(refund_no);
        }
        let body = json!({ "type": telling.kind, "timestamp": now, "data": data });
        let row = ActiveModel {
            id: NotSet,
            payment_id: Set(payment.payment_id),
            kind: Set(telling.kind.to_owned()),
            amount: Set(telling.amount),
            body: Set(body.to_string()),
            copies: Set(telling.copies),
            forged: Set(telling.forged),
            attempts: Set(0),
            next_attempt_at: Set(Some(now)),
            deliveries: Set(json!([])),
            created_at: Set(now),
        };
        Entity::insert(row)
            .exec_without_returning(self.db.write())
            .await?;
        Ok(())
    }

    /// What was told of an attempt, oldest first.
    pub async fn messages(&self, payment: PaymentId) -> Result<Vec<Model>, DbErr> {
        let told = Entity::find().filter(Column::PaymentId.eq(payment));
        told.order_by_asc(Column::Id).all(self.db.write()).await
    }

    /// Delivers what is due, in order; returns how many messages went out.
    pub async fn deliver_due(&self) -> Result<usize, DbErr> {
        let Some(shop) = self.shop.get() else {
            return Ok(0);
        };
        let now = self.clock.now();
        let at = Column::NextAttemptAt;
        let due = Entity::find()
            .filter(at.lte(now).or(at.gt(latest(now))))
            .order_by_asc(Column::Id)
            .limit(BATCH)
            .all(self.db.write())
            .await?;
        for message in &due {
            self.deliver(shop, message).await?;
        }
        Ok(due.len())
    }

    async fn deliver(&self, shop: &str, message: &Model) -> Result<(), DbErr> {
        if !self.claim(message).await? {
            return Ok(());
        }
        let copies = if message.attempts == 0 {
            message.copies
        } else {
            1
        };
        let answers = join_all((0..copies).map(|_| self.post(shop, message))).await;
        let accepted = answers.iter().any(|answer| answer["status"] == 200);
        let mut deliveries = message.deliveries.clone();
        if let Some(log) = deliveries.as_array_mut() {
            log.extend(answers);
        }
        let mut row = ActiveModel {
            id: Unchanged(message.id),
            deliveries: Set(deliveries),
            ..Default::default()
        };
        if accepted || message.forged {
            row.next_attempt_at = Set(None);
        }
        row.update(self.db.write()).await?;
        Ok(())
    }

    /// Of several that found the message due one delivers it; a crash leaves it due again later.
    async fn claim(&self, message: &Model) -> Result<bool, DbErr> {
        let next = next_attempt(message.attempts, self.clock.now());
        let result = Entity::update_many()
            .col_expr(Column::Attempts, Expr::value(message.attempts + 1))
            .col_expr(Column::NextAttemptAt, Expr::value(next))
            .filter(Column::Id.eq(message.id))
            .filter(Column::Attempts.eq(message.attempts))
            .exec(self.db.write())
            .await?;
        Ok(result.rows_affected == 1)
    }

    async fn post(&self, shop: &str, message: &Model) -> Value {
        let now = self.clock.now();
        let id = webhook_id(message);
        let key: &[u8] = if message.forged {
            b"a wrong secret"
        } else {
            &self.secret
        };
        let (timestamp, body) = (now.timestamp(), message.body.as_bytes());
        let answer = self
            .http
            .post(format!("{shop}/api/payments/callback/sandbox"))
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp.to_string())
            .header(
                "webhook-signature",
                signature::sign(key, &id, timestamp, body),
            )
            .body(message.body.clone())
            .send()
            .await;
        match answer {
            Ok(answer) => {
                let status = answer.status().as_u16();
                let body = answer.text().await.unwrap_or_default();
                json!({ "at": now, "status": status, "body": body })
            }
            Err(_) => json!({ "at": now, "status": 0, "body": "no answer" }),
        }
    }
}

/// The id of a message at each of its deliveries.
pub fn webhook_id(message: &Model) -> String {
    format!("sandbox-{}", message.id)
}

/// The sandbox's number of an attempt that was paid.
pub fn trade_no(payment: PaymentId) -> String {
    format!("SB{payment}")
}

fn next_attempt(attempts: i32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let pause = RETRIES.get(usize::try_from(attempts).ok()?)?;
    Some(now + TimeDelta::seconds(*pause))
}

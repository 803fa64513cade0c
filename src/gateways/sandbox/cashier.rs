//! What a person can do at the sandbox's cashier: pay, and everything that goes wrong in real life.

use entity::sandbox_payment::{Column, Entity, Model, Standing};
use entity::{PaymentId, sandbox_message};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};

use super::delivery::{Telling, trade_no};
use super::{Sandbox, memory};

/// A button of the cashier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Pay,
    PayThreeTimes,
    PayHundredTimes,
    Close,
    Fail,
    CloseAfterPaid,
    RefundBeforePaid,
    Refund,
    WrongAmount,
    ForgedSignature,
}

/// Why an action was not done.
#[derive(Debug)]
pub enum Declined {
    Unknown,
    /// It makes no sense as the attempt stands.
    NotNow,
    Memory(DbErr),
}

impl From<DbErr> for Declined {
    fn from(error: DbErr) -> Self {
        Self::Memory(error)
    }
}

impl Sandbox {
    /// An attempt and what was told of it.
    pub async fn look(
        &self,
        id: PaymentId,
    ) -> Result<(Model, Vec<sandbox_message::Model>), Declined> {
        let payment = memory::find(self.db.write(), id)
            .await?
            .ok_or(Declined::Unknown)?;
        Ok((payment, self.messages(id).await?))
    }

    /// Does it, and delivers what is due.
    pub async fn act(&self, id: PaymentId, action: Action) -> Result<(), Declined> {
        let payment = memory::find(self.db.write(), id)
            .await?
            .ok_or(Declined::Unknown)?;
        match action {
            Action::Pay => self.pay(payment, 1).await?,
            Action::PayThreeTimes => self.pay(payment, 3).await?,
            Action::PayHundredTimes => self.pay(payment, 100).await?,
            Action::Close => {
                if !memory::close(self.db.write(), id).await? {
                    return Err(Declined::NotNow);
                }
                self.tell(&payment, Telling::once("payment.closed", payment.amount))
                    .await?;
            }
            Action::Fail => {
                only(&payment, Standing::Open)?;
                self.tell(&payment, Telling::once("payment.failed", payment.amount))
                    .await?;
            }
            Action::CloseAfterPaid => {
                self.pay(payment.clone(), 1).await?;
                self.tell(&payment, Telling::once("payment.closed", payment.amount))
                    .await?;
            }
            Action::RefundBeforePaid => self.refund_before_paid(payment).await?,
            Action::Refund => self.refund_rest(payment).await?,
            Action::WrongAmount => {
                only(&payment, Standing::Open)?;
                self.tell(
                    &payment,
                    Telling::once("payment.succeeded", payment.amount + 1),
                )
                .await?;
            }
            Action::ForgedSignature => {
                let telling = Telling::once("payment.succeeded", payment.amount);
                self.tell(
                    &payment,
                    Telling {
                        forged: true,
                        ..telling
                    },
                )
                .await?;
            }
        }
        self.deliver_due().await?;
        Ok(())
    }

    async fn pay(&self, payment: Model, copies: i32) -> Result<(), Declined> {
        let id = payment.payment_id;
        if !memory::pay(self.db.write(), id, &trade_no(id), self.clock.now()).await? {
            return Err(Declined::NotNow);
        }
        let telling = Telling::once("payment.succeeded", payment.amount);
        Ok(self.tell(&payment, Telling { copies, ..telling }).await?)
    }

    async fn refund_before_paid(&self, payment: Model) -> Result<(), Declined> {
        only(&payment, Standing::Open)?;
        let (id, amount) = (payment.payment_id, payment.amount);
        memory::pay(self.db.write(), id, &trade_no(id), self.clock.now()).await?;
        self.tell_refund(&payment, amount).await?;
        Ok(self
            .tell(&payment, Telling::once("payment.succeeded", amount))
            .await?)
    }

    async fn refund_rest(&self, payment: Model) -> Result<(), Declined> {
        only(&payment, Standing::Paid)?;
        let rest = payment.amount - payment.refunded_amount;
        if rest == 0 {
            return Err(Declined::NotNow);
        }
        self.tell_refund(&payment, rest).await
    }

    /// The gateway's own refund, which nobody at the shop asked for.
    async fn tell_refund(&self, payment: &Model, amount: i64) -> Result<(), Declined> {
        let refunded = payment.refunded_amount + amount;
        Entity::update_many()
            .col_expr(Column::RefundedAmount, Expr::value(refunded))
            .filter(Column::PaymentId.eq(payment.payment_id))
            .filter(Column::RefundedAmount.eq(payment.refunded_amount))
            .exec(self.db.write())
            .await?;
        let refund_no = Some(format!("GW{}-{refunded}", payment.payment_id));
        let telling = Telling::once("refund.succeeded", amount);
        Ok(self
            .tell(
                payment,
                Telling {
                    refund_no,
                    ..telling
                },
            )
            .await?)
    }
}

fn only(payment: &Model, standing: Standing) -> Result<(), Declined> {
    if payment.status == standing {
        Ok(())
    } else {
        Err(Declined::NotNow)
    }
}

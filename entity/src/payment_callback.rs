//! What gateways told, once by event and once by fact, with what came of it.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::{OrderId, PaymentId};

/// What a message tells.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(20))")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[sea_orm(string_value = "paid")]
    Paid,
    #[sea_orm(string_value = "closed")]
    Closed,
    #[sea_orm(string_value = "failed")]
    Failed,
    #[sea_orm(string_value = "refund_succeeded")]
    RefundSucceeded,
    #[sea_orm(string_value = "refund_failed")]
    RefundFailed,
    /// Of no interest.
    #[sea_orm(string_value = "ignored")]
    Ignored,
}

/// What came of a message.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    #[sea_orm(string_value = "APPLIED")]
    Applied,
    /// It told nothing new.
    #[sea_orm(string_value = "STALE")]
    Stale,
    #[sea_orm(string_value = "IGNORED")]
    Ignored,
    /// It waits for what it refers to.
    #[sea_orm(string_value = "PARKED")]
    Parked,
    /// Nothing here has that id; judged anew at each delivery.
    #[sea_orm(string_value = "UNRESOLVED")]
    Unresolved,
    /// It contradicts what we know; judged anew at each delivery.
    #[sea_orm(string_value = "REFUSED")]
    Refused,
}

impl Outcome {
    /// Whether a repeat of the message cannot change anything.
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Applied | Self::Stale | Self::Ignored | Self::Parked
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "payment_callback")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub gateway: String,
    pub event_id: String,
    /// The fact it tells, or `event:{event_id}` while it is UNRESOLVED or REFUSED.
    pub biz_key: String,
    pub kind: Kind,
    /// As the message names it; 0 when it names none.
    pub payment_id: PaymentId,
    /// The payment's order; 0 when the payment is unknown.
    pub order_id: OrderId,
    pub trade_no: String,
    /// The shop's number of a refund; empty for other kinds.
    pub refund_no: String,
    pub amount: i64,
    pub currency: String,
    /// By the gateway's clock.
    pub event_time: DateTimeUtc,
    pub outcome: Outcome,
    /// How often it came; best effort.
    pub deliveries: i32,
    /// The message as it came.
    pub raw: String,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

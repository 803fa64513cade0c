//! Money that goes back, each refund under a number that the gateway knows it by.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::{OrderId, PaymentId, RefundId};

/// Where a refund stands; which may follow which is `domain::refund_flow`'s to say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundStatus {
    #[sea_orm(string_value = "REQUESTED")]
    Requested,
    /// The gateway was asked; what it did may be unknown.
    #[sea_orm(string_value = "PROCESSING")]
    Processing,
    #[sea_orm(string_value = "SUCCEEDED")]
    Succeeded,
    /// By the gateway's final word.
    #[sea_orm(string_value = "FAILED")]
    Failed,
}

/// Who wanted it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Origin {
    #[sea_orm(string_value = "SHOP")]
    Shop,
    /// The money was surplus.
    #[sea_orm(string_value = "AUTOMATIC")]
    Automatic,
    /// The gateway told of it and nobody here had asked.
    #[sea_orm(string_value = "GATEWAY")]
    Gateway,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "refund")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: RefundId,
    pub refund_no: String,
    pub payment_id: PaymentId,
    pub order_id: OrderId,
    /// In minor units of `currency`.
    pub amount: i64,
    pub currency: String,
    pub reason: String,
    pub status: RefundStatus,
    pub origin: Origin,
    /// How often the gateway was asked.
    pub asks: i32,
    pub next_ask_at: DateTimeUtc,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
    pub settled_at: Option<DateTimeUtc>,
}

impl Model {
    /// Holds a reservation whose end is not known.
    pub fn is_unconfirmed(&self) -> bool {
        matches!(
            self.status,
            RefundStatus::Requested | RefundStatus::Processing
        )
    }
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

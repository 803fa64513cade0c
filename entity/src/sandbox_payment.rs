//! The sandbox gateway's own memory: what it was asked to collect.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::{OrderId, PaymentId};

/// Where an attempt stands at the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(8))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Standing {
    #[sea_orm(string_value = "OPEN")]
    Open,
    #[sea_orm(string_value = "PAID")]
    Paid,
    #[sea_orm(string_value = "CLOSED")]
    Closed,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sandbox_payment")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub payment_id: PaymentId,
    pub order_id: OrderId,
    pub amount: i64,
    pub currency: String,
    pub status: Standing,
    /// Empty until it is paid.
    pub trade_no: String,
    pub refunded_amount: i64,
    pub expires_at: DateTimeUtc,
    pub paid_at: Option<DateTimeUtc>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

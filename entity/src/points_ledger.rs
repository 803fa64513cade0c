//! Every movement of points, once for each business fact.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::OrderId;
use crate::user_id::UserId;

/// Why points moved.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    #[sea_orm(string_value = "PAID")]
    Paid,
    #[sea_orm(string_value = "REFUNDED")]
    Refunded,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "points_ledger")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub user_id: UserId,
    pub biz_key: String,
    pub order_id: OrderId,
    /// Negative when points were taken back.
    pub change: i64,
    pub reason: Reason,
    pub created_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

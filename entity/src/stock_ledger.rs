//! Every change of a stock; the unique key makes a deduction and a restore happen once.

use sea_orm::entity::prelude::*;

use crate::ids::ProductId;

/// Why a stock changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
pub enum Reason {
    /// An order took the pieces; `biz_key` is `order:{id}`.
    #[sea_orm(string_value = "DEDUCT")]
    Deduct,
    /// The order gave them back; `biz_key` is `order:{id}`.
    #[sea_orm(string_value = "RESTORE")]
    Restore,
    /// An operator counted: `biz_key` is `version:{version he saw}`; the opening stock is `opening`.
    #[sea_orm(string_value = "ADJUST")]
    Adjust,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "stock_ledger")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub product_id: ProductId,
    /// Pieces; negative for a deduction.
    pub change: i64,
    pub reason: Reason,
    pub biz_key: String,
    pub created_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

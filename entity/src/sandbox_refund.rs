//! The sandbox gateway's own memory: refunds that it granted.

use sea_orm::entity::prelude::*;

use crate::ids::PaymentId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sandbox_refund")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub payment_id: PaymentId,
    pub refund_no: String,
    pub amount: i64,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

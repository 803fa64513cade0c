//! What a person must see, once a kind and subject.

use sea_orm::entity::prelude::*;

use crate::ids::OrderId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alert")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub kind: String,
    /// What it is about: a payment, a refund, an event.
    pub subject: String,
    /// 0 when it concerns no order.
    pub order_id: OrderId,
    pub detail: String,
    pub created_at: DateTimeUtc,
    pub acknowledged_at: Option<DateTimeUtc>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

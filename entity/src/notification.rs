//! What a customer was told, once for each business fact.

use sea_orm::entity::prelude::*;

use crate::ids::OrderId;
use crate::user_id::UserId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notification")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub user_id: UserId,
    pub biz_key: String,
    pub order_id: OrderId,
    /// The event that it tells of: later events have greater ids, messages come in any order.
    pub event_id: i64,
    /// The type of that event; the page knows the words.
    #[sea_orm(column_name = "type")]
    pub kind: String,
    /// What the words need: amounts, the carrier.
    pub payload: Json,
    /// When the event happened.
    pub created_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! What a consumer could not do: tried again until it works or is dead; the retry list and the dead list of both buses.

use sea_orm::entity::prelude::*;

use crate::ids::OrderId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "message_failure")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub consumer: String,
    /// The row of `order_event` that the message was made of.
    pub event_id: i64,
    pub order_id: OrderId,
    /// How often it failed.
    pub attempts: i32,
    pub next_attempt_at: DateTimeUtc,
    pub last_error: String,
    /// Since when nobody tries any more; an operator may let it be tried again.
    pub dead_at: Option<DateTimeUtc>,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! What happened to an order, in order: its timeline and the outbox in one table.

use sea_orm::entity::prelude::*;

use crate::ids::OrderId;
use crate::order::OrderStatus;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "order_event")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub order_id: OrderId,
    /// 1, 2, 3 … without gaps within the order; from `orders.last_seq`, under the order's lock.
    pub seq: i64,
    #[sea_orm(column_name = "type")]
    pub kind: String,
    /// What of the order it is about: `{payment}:{refund_no}`, a payment's id, or the `seq`.
    pub subject: String,
    /// `None` for the first event; equal to `to_status` when nothing moved.
    pub from_status: Option<OrderStatus>,
    pub to_status: OrderStatus,
    /// `customer`, `operator`, `service` or the name of a job.
    pub actor: String,
    pub payload: Json,
    pub created_at: DateTimeUtc,
    /// When it was durably handed over to every consumer.
    pub published_at: Option<DateTimeUtc>,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Attempts to pay an order; `uk_payment_live` allows one live attempt an order.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::{OrderId, PaymentId};

/// Where an attempt stands; which may follow which is `domain::payment_flow`'s to say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    #[sea_orm(string_value = "CREATED")]
    Created,
    /// The gateway knows of it.
    #[sea_orm(string_value = "LIVE")]
    Live,
    #[sea_orm(string_value = "SUCCEEDED")]
    Succeeded,
    /// Still open at the gateway: the buyer may try again there.
    #[sea_orm(string_value = "FAILED")]
    Failed,
    #[sea_orm(string_value = "CLOSED")]
    Closed,
}

/// What a successful attempt's money is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    /// No money came yet.
    #[sea_orm(string_value = "NONE")]
    None,
    /// It paid the order.
    #[sea_orm(string_value = "BOOKED")]
    Booked,
    /// The order was paid or closed already: it goes back.
    #[sea_orm(string_value = "SURPLUS")]
    Surplus,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "payment")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: PaymentId,
    pub order_id: OrderId,
    pub gateway: String,
    /// In minor units of `currency`.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    pub status: PaymentStatus,
    pub role: Role,
    /// Reserved by refunds that have not failed, in minor units.
    pub refunded_amount: i64,
    /// The gateway's own number, once it paid; empty before.
    pub trade_no: String,
    /// 0 while CREATED or LIVE and not retired, then the attempt's own id.
    pub live_slot: i64,
    /// Callbacks of this attempt that wait to be judged again.
    pub parked: i32,
    /// Where the buyer pays; empty until the gateway said so.
    pub checkout_url: String,
    /// Since when it should end at the gateway.
    pub close_requested_at: Option<DateTimeUtc>,
    /// How often the gateway was asked about it.
    pub asks: i32,
    /// When it is asked again.
    pub next_ask_at: DateTimeUtc,
    /// Told to the gateway: it takes no money afterwards.
    pub expires_at: DateTimeUtc,
    pub succeeded_at: Option<DateTimeUtc>,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
}

impl PaymentStatus {
    /// Neither paid nor closed at the gateway: it may still bring money.
    pub const OPEN: [Self; 3] = [Self::Created, Self::Live, Self::Failed];
}

impl Model {
    /// Neither paid nor closed at the gateway.
    pub fn is_open(&self) -> bool {
        PaymentStatus::OPEN.contains(&self.status)
    }
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::order::Entity",
        from = "Column::OrderId",
        to = "super::order::Column::Id"
    )]
    Order,
}

impl Related<super::order::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Order.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

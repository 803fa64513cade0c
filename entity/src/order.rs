//! Orders. The id comes in with the order token, so the primary key itself refuses a repeat.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::ids::OrderId;
use crate::user_id::UserId;

/// What kind of sale it is; settings give each a policy and, for rushes, a lock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderType {
    #[sea_orm(string_value = "NORMAL")]
    Normal,
    #[sea_orm(string_value = "FLASH_SALE")]
    FlashSale,
    #[sea_orm(string_value = "GROUP_BUY")]
    GroupBuy,
}

/// How many orders of a type a customer may have for one product; kept on the order as at its creation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// One that waits for its payment.
    #[sea_orm(string_value = "one_unpaid")]
    OneUnpaid,
    /// One that is neither closed nor refunded.
    #[sea_orm(string_value = "one_valid")]
    OneValid,
    #[sea_orm(string_value = "unlimited")]
    Unlimited,
}

/// Where an order stands; which may follow which is `domain::order_flow`'s to say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, EnumIter, DeriveActiveEnum,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    #[sea_orm(string_value = "PENDING_PAYMENT")]
    PendingPayment,
    #[sea_orm(string_value = "PAYING")]
    Paying,
    #[sea_orm(string_value = "PAID")]
    Paid,
    #[sea_orm(string_value = "SHIPPED")]
    Shipped,
    #[sea_orm(string_value = "FINISHED")]
    Finished,
    #[sea_orm(string_value = "CLOSED")]
    Closed,
    #[sea_orm(string_value = "REFUNDING")]
    Refunding,
    #[sea_orm(string_value = "REFUNDED")]
    Refunded,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "orders")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: OrderId,
    pub user_id: UserId,
    pub order_type: OrderType,
    pub policy: Policy,
    pub status: OrderStatus,
    /// In minor units of `currency`.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// What succeeded refunds of the booked payment gave back, in minor units.
    pub refunded_amount: i64,
    pub address: Address,
    /// Grows by one with each change of the row.
    pub version: i64,
    /// The `seq` of the newest `order_event`.
    pub last_seq: i64,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
    /// Until when a payment may be started.
    pub expires_at: DateTimeUtc,
    pub paid_at: Option<DateTimeUtc>,
    pub shipped_at: Option<DateTimeUtc>,
    pub finished_at: Option<DateTimeUtc>,
    pub closed_at: Option<DateTimeUtc>,
    /// With `tracking_no`, since it was shipped; empty before.
    pub carrier: String,
    pub tracking_no: String,
    /// How many minor units a loyalty point is worth, as at creation.
    pub points_unit: i64,
}

impl Model {
    /// It waits for its money.
    pub fn is_unpaid(&self) -> bool {
        matches!(
            self.status,
            OrderStatus::PendingPayment | OrderStatus::Paying
        )
    }
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(has_many = "super::order_item::Entity")]
    Items,
    #[sea_orm(has_many = "super::payment::Entity")]
    Payments,
}

impl Related<super::payment::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Payments.def()
    }
}

impl Related<super::order_item::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Items.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

//! What an order holds, as it was bought. `uk_user_product` makes "one valid order" exact.

use sea_orm::entity::prelude::*;

use crate::ids::{OrderId, ProductId};
use crate::order::OrderType;
use crate::user_id::UserId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "order_item")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub order_id: OrderId,
    pub user_id: UserId,
    pub product_id: ProductId,
    pub order_type: OrderType,
    /// 0 while the item counts against the order's policy, then the order's own id; never 0 again.
    pub active_slot: i64,
    pub quantity: i64,
    /// Of one piece, in minor units of the order's currency.
    pub price: i64,
    pub sku: String,
    pub name: String,
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

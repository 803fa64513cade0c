//! The requests whose work was done; inserted first, in the transaction that does the work.

use sea_orm::entity::prelude::*;

use crate::ids::OrderId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_record")]
pub struct Model {
    /// SHA-256 over the length-prefixed role, caller, operation and key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Vec<u8>,
    /// SHA-256 over what was asked for.
    pub fingerprint: Vec<u8>,
    /// What the work made.
    pub resource_id: i64,
    /// The answer's HTTP status; 410 is the tombstone of a token that was never used.
    pub status_code: i32,
    pub created_at: DateTimeUtc,
    /// From when on the key's client will not come again.
    pub expires_at: DateTimeUtc,
}

impl Model {
    /// The order, when the work was a creation.
    pub fn order_id(&self) -> OrderId {
        OrderId(self.resource_id)
    }
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::order::Entity",
        from = "Column::ResourceId",
        to = "super::order::Column::Id"
    )]
    Order,
    #[sea_orm(
        belongs_to = "super::order_item::Entity",
        from = "Column::ResourceId",
        to = "super::order_item::Column::OrderId"
    )]
    Items,
}

impl Related<super::order::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Order.def()
    }
}

impl Related<super::order_item::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Items.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

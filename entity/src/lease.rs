//! Who may do alone what only one may do: node numbers now; jobs and relay claims by the same row.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "lease")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub holder: String,
    /// Unix time in milliseconds by the database's clock.
    pub until: i64,
    /// Grows by one whenever the holder changes.
    pub epoch: i64,
    /// For node numbers: the last millisecond of the id clock that may have been minted from.
    pub reserved: i64,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

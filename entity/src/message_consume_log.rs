//! What a consumer has done: one row for each business fact, in the transaction of its effect.

use sea_orm::entity::prelude::*;

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
pub enum Status {
    #[sea_orm(string_value = "APPLIED")]
    Applied,
    /// There was nothing to do: no points in it, or another way had led there already.
    #[sea_orm(string_value = "NOTHING")]
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "message_consume_log")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub consumer: String,
    /// `{order}:{type}:{subject}`: the fact, never the message.
    pub biz_key: String,
    /// The message that told of it first.
    pub message_id: String,
    pub status: Status,
    pub created_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

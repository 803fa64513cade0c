//! The sandbox gateway's own memory: what it has to tell the shop, and what it heard.

use sea_orm::entity::prelude::*;

use crate::ids::PaymentId;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sandbox_message")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub payment_id: PaymentId,
    /// `payment.succeeded` and the like.
    pub kind: String,
    pub amount: i64,
    /// The signed text; the same at each delivery.
    pub body: String,
    /// How many copies go out at once at the first delivery.
    pub copies: i32,
    /// Signed with a wrong secret, to see it refused.
    pub forged: bool,
    pub attempts: i32,
    /// `None` when it was accepted or given up.
    pub next_attempt_at: Option<DateTimeUtc>,
    /// Each answer, as `{at, status, body}`.
    pub deliveries: Json,
    pub created_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! What the audit reads, over all tables.

use entity::OrderId;
use entity::order::{OrderStatus, Policy};
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, Statement};

use crate::database::Transaction;

/// Items that are alike in what decides their slot.
#[derive(Debug, Clone, FromQueryResult)]
pub struct SlotKind {
    pub policy: Policy,
    pub status: OrderStatus,
    /// One of the orders.
    pub order_id: OrderId,
    /// Its items' slot.
    pub active_slot: i64,
    /// How many items are alike.
    pub items: i64,
}

/// The column `subject` of each row that `sql` finds.
pub async fn subjects(snapshot: &Transaction, sql: &str) -> Result<Vec<String>, DbErr> {
    let statement = Statement::from_string(snapshot.get_database_backend(), sql);
    let rows = snapshot.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get("", "subject")).collect()
}

/// One item of each kind: by policy, status, and whether the slot is 0, the order's id or neither.
pub async fn slot_kinds(snapshot: &Transaction) -> Result<Vec<SlotKind>, DbErr> {
    let sql = "SELECT o.policy, o.status, MIN(o.id) AS order_id, COUNT(*) AS items, \
               CASE WHEN MIN(i.active_slot) = 0 THEN 0 WHEN MIN(i.active_slot) = MIN(o.id) \
               THEN MIN(o.id) ELSE -1 END AS active_slot \
               FROM orders o JOIN order_item i ON i.order_id = o.id \
               GROUP BY o.policy, o.status, CASE WHEN i.active_slot = 0 THEN 0 \
               WHEN i.active_slot = o.id THEN 1 ELSE 2 END";
    let statement = Statement::from_string(snapshot.get_database_backend(), sql);
    SlotKind::find_by_statement(statement).all(snapshot).await
}

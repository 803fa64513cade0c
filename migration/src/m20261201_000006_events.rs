//! What consumers did with events and what failed, points, what customers were told; the outbox can be relayed.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::columns::{
    big, bytes, drop_tables, index, json, serial, table, text, unique, utc, utc_or_null,
};

const TABLES: [&str; 5] = [
    "notification",
    "points_ledger",
    "points_account",
    "message_failure",
    "message_consume_log",
];

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        let mut subject = text("subject", 96);
        subject.default("");
        add_column(m, "order_event", "subject", subject).await?;
        let mut unit = big("points_unit");
        unit.default(100);
        add_column(m, "orders", "points_unit", unit).await?;
        complete_events(m).await?;
        m.create_table(consume_log(m).await?).await?;
        let message = ["message_id"];
        index(m, "ix_consume_log_message", "message_consume_log", &message).await?;
        m.create_table(failure(m).await?).await?;
        let due = ["dead_at", "next_attempt_at"];
        index(m, "ix_message_failure_due", "message_failure", &due).await?;
        m.create_table(points_account(m).await?).await?;
        m.create_table(points_ledger(m).await?).await?;
        let order = ["order_id"];
        index(m, "ix_points_ledger_order", "points_ledger", &order).await?;
        let user = ["user_id", "id"];
        index(m, "ix_points_ledger_user", "points_ledger", &user).await?;
        m.create_table(notification(m).await?).await?;
        let user = ["user_id", "event_id"];
        index(m, "ix_notification_user", "notification", &user).await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &TABLES).await?;
        drop_column(m, "orders", "points_unit").await?;
        drop_column(m, "order_event", "subject").await
    }
}

async fn add_column(
    m: &SchemaManager<'_>,
    table: &'static str,
    name: &'static str,
    column: ColumnDef,
) -> Result<(), DbErr> {
    if m.has_column(table, name).await? {
        return Ok(());
    }
    let mut alter = Table::alter();
    m.alter_table(alter.table(table).add_column(column).take())
        .await
}

async fn drop_column(
    m: &SchemaManager<'_>,
    table: &'static str,
    name: &'static str,
) -> Result<(), DbErr> {
    if !m.has_column(table, name).await? {
        return Ok(());
    }
    let mut alter = Table::alter();
    m.alter_table(alter.table(table).drop_column(name).take())
        .await
}

/// Events that were written before say what they are about in their payload only, and those of refunds not
/// how much of the booked payment had gone back before.
async fn complete_events(m: &SchemaManager<'_>) -> Result<(), DbErr> {
    let db = m.get_connection();
    let field = |name: &str| match m.get_database_backend() {
        DbBackend::MySql => format!("JSON_UNQUOTE(JSON_EXTRACT(payload, '$.{name}'))"),
        _ => format!("json_extract(payload, '$.{name}')"),
    };
    let integer = match m.get_database_backend() {
        DbBackend::MySql => "SIGNED",
        _ => "INTEGER",
    };
    let (payment, refund) = (field("payment_id"), field("refund_no"));
    // Without the cast MySQL would reckon with text, which makes decimals of whole numbers.
    let number = |name: &str| format!("CAST({} AS {integer})", field(name));
    let (refunded, amount) = (number("refunded"), number("amount"));
    db.execute_unprepared(&format!(
        "UPDATE order_event SET payload = JSON_SET(payload, '$.refunded_before', {refunded} - \
         CASE WHEN EXISTS (SELECT 1 FROM payment p WHERE p.order_id = order_event.order_id \
         AND '' || p.id = {payment} AND p.role = 'BOOKED') THEN {amount} ELSE 0 END) \
         WHERE type = 'RefundSucceeded' AND subject = ''"
    ))
    .await?;
    db.execute_unprepared(&format!(
        "UPDATE order_event SET subject = CASE WHEN {refund} IS NOT NULL THEN {payment} || ':' || {refund} \
         WHEN {payment} IS NOT NULL THEN {payment} ELSE '' || seq END WHERE subject = ''"
    ))
    .await?;
    Ok(())
}

async fn consume_log(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "message_consume_log")
        .await?
        .col(serial("id"))
        .col(text("consumer", 32))
        .col(text("biz_key", 160))
        .col(text("message_id", 64))
        .col(text("status", 16))
        .col(utc(m, "created_at"))
        .index(&mut unique("uk_consume_log", &["consumer", "biz_key"]))
        .take())
}

async fn failure(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "message_failure")
        .await?
        .col(serial("id"))
        .col(text("consumer", 32))
        .col(big("event_id"))
        .col(big("order_id"))
        .col(ColumnDef::new("attempts").integer().not_null())
        .col(utc(m, "next_attempt_at"))
        .col(text("last_error", 500))
        .col(utc_or_null(m, "dead_at"))
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .index(&mut unique("uk_message_failure", &["consumer", "event_id"]))
        .take())
}

/// A balance may be negative for a while: a refund may be told before its payment.
async fn points_account(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    let mut user = bytes("user_id", 64);
    Ok(table(m, "points_account")
        .await?
        .col(user.primary_key().take())
        .col(big("balance"))
        .col(utc(m, "updated_at"))
        .take())
}

async fn points_ledger(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "points_ledger")
        .await?
        .col(serial("id"))
        .col(bytes("user_id", 64))
        .col(text("biz_key", 160))
        .col(big("order_id"))
        .col(big("change"))
        .col(text("reason", 16))
        .col(utc(m, "created_at"))
        .index(&mut unique("uk_points_ledger", &["user_id", "biz_key"]))
        .take())
}

async fn notification(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "notification")
        .await?
        .col(serial("id"))
        .col(bytes("user_id", 64))
        .col(text("biz_key", 160))
        .col(big("order_id"))
        .col(big("event_id"))
        .col(text("type", 32))
        .col(json("payload"))
        .col(utc(m, "created_at"))
        .index(&mut unique("uk_notification", &["user_id", "biz_key"]))
        .take())
}

//! The memory of the sandbox gateway.

use sea_orm_migration::prelude::*;

use crate::columns::{
    big, drop_tables, index, json, serial, table, text, unique, utc, utc_or_null,
};

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        m.create_table(
            table(m, "sandbox_payment")
                .await?
                .col(big("payment_id").primary_key().take())
                .col(big("order_id"))
                .col(big("amount"))
                .col(text("currency", 3))
                .col(text("status", 8))
                .col(text("trade_no", 64))
                .col(big("refunded_amount"))
                .col(utc(m, "expires_at"))
                .col(utc_or_null(m, "paid_at"))
                .take(),
        )
        .await?;
        m.create_table(
            table(m, "sandbox_refund")
                .await?
                .col(serial("id"))
                .col(big("payment_id"))
                .col(text("refund_no", 64))
                .col(big("amount"))
                .index(&mut unique(
                    "uk_sandbox_refund",
                    &["payment_id", "refund_no"],
                ))
                .take(),
        )
        .await?;
        m.create_table(message(m).await?).await?;
        index(
            m,
            "ix_sandbox_message_due",
            "sandbox_message",
            &["next_attempt_at"],
        )
        .await?;
        index(
            m,
            "ix_sandbox_message_payment",
            "sandbox_message",
            &["payment_id"],
        )
        .await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &["sandbox_message", "sandbox_refund", "sandbox_payment"]).await
    }
}

async fn message(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "sandbox_message")
        .await?
        .col(serial("id"))
        .col(big("payment_id"))
        .col(text("kind", 32))
        .col(big("amount"))
        .col(ColumnDef::new("body").text().not_null())
        .col(ColumnDef::new("copies").integer().not_null())
        .col(ColumnDef::new("forged").boolean().not_null())
        .col(ColumnDef::new("attempts").integer().not_null())
        .col(utc_or_null(m, "next_attempt_at"))
        .col(json("deliveries"))
        .col(utc(m, "created_at"))
        .take())
}

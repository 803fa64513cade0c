//! Payment attempts, what gateways told of them, refunds, alerts, and where a parcel is.

use sea_orm_migration::prelude::*;

use crate::columns::{
    big, drop_tables, foreign, index, never_negative, serial, table, text, unique, utc, utc_or_null,
};

/// Where a parcel is: new columns of `orders`.
const PARCEL: [&str; 2] = ["carrier", "tracking_no"];

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        for name in PARCEL {
            if !m.has_column("orders", name).await? {
                let mut column = text(name, 64);
                column.default("");
                let mut orders = Table::alter();
                m.alter_table(orders.table("orders").add_column(column).take())
                    .await?;
            }
        }
        m.create_table(payment(m).await?).await?;
        index(m, "ix_payment_close", "payment", &["close_requested_at"]).await?;
        m.create_table(callback(m).await?).await?;
        index(
            m,
            "ix_payment_callback_order",
            "payment_callback",
            &["order_id"],
        )
        .await?;
        index(
            m,
            "ix_payment_callback_parked",
            "payment_callback",
            &["payment_id", "outcome"],
        )
        .await?;
        m.create_table(refund(m).await?).await?;
        index(m, "ix_refund_order", "refund", &["order_id"]).await?;
        index(m, "ix_refund_due", "refund", &["status", "next_ask_at"]).await?;
        m.create_table(alert(m).await?).await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &["alert", "refund", "payment_callback", "payment"]).await?;
        for name in PARCEL {
            if m.has_column("orders", name).await? {
                let mut orders = Table::alter();
                m.alter_table(orders.table("orders").drop_column(name).take())
                    .await?;
            }
        }
        Ok(())
    }
}

async fn payment(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "payment")
        .await?
        .col(big("id").primary_key().take())
        .col(big("order_id"))
        .col(text("gateway", 32))
        .col(big("amount"))
        .col(text("currency", 3))
        .col(text("status", 16))
        .col(text("role", 16))
        .col(big("refunded_amount"))
        .col(text("trade_no", 64))
        .col(big("live_slot"))
        .col(ColumnDef::new("parked").integer().not_null())
        .col(text("checkout_url", 255))
        .col(utc_or_null(m, "close_requested_at"))
        .col(ColumnDef::new("asks").integer().not_null())
        .col(utc(m, "next_ask_at"))
        .col(utc(m, "expires_at"))
        .col(utc_or_null(m, "succeeded_at"))
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .index(&mut unique("uk_payment_live", &["order_id", "live_slot"]))
        .foreign_key(&mut foreign(
            "fk_payment_order",
            ("payment", "order_id"),
            ("orders", "id"),
        ))
        .check(never_negative(
            "ck_payment_refunded_amount",
            "refunded_amount",
        ))
        .take())
}

async fn callback(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "payment_callback")
        .await?
        .col(serial("id"))
        .col(text("gateway", 32))
        .col(text("event_id", 192))
        .col(text("biz_key", 255))
        .col(text("kind", 20))
        .col(big("payment_id"))
        .col(big("order_id"))
        .col(text("trade_no", 64))
        .col(text("refund_no", 64))
        .col(big("amount"))
        .col(text("currency", 3))
        .col(utc(m, "event_time"))
        .col(text("outcome", 16))
        .col(ColumnDef::new("deliveries").integer().not_null())
        .col(ColumnDef::new("raw").text().not_null())
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .index(&mut unique(
            "uk_payment_callback_event",
            &["gateway", "event_id"],
        ))
        .index(&mut unique(
            "uk_payment_callback_biz",
            &["gateway", "biz_key"],
        ))
        .take())
}

async fn refund(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "refund")
        .await?
        .col(serial("id"))
        .col(text("refund_no", 64))
        .col(big("payment_id"))
        .col(big("order_id"))
        .col(big("amount"))
        .col(text("currency", 3))
        .col(text("reason", 200))
        .col(text("status", 16))
        .col(text("origin", 16))
        .col(ColumnDef::new("asks").integer().not_null())
        .col(utc(m, "next_ask_at"))
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .col(utc_or_null(m, "settled_at"))
        .index(&mut unique("uk_refund_no", &["payment_id", "refund_no"]))
        .foreign_key(&mut foreign(
            "fk_refund_payment",
            ("refund", "payment_id"),
            ("payment", "id"),
        ))
        .check(never_negative("ck_refund_amount", "amount"))
        .take())
}

async fn alert(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "alert")
        .await?
        .col(serial("id"))
        .col(text("kind", 48))
        .col(text("subject", 192))
        .col(big("order_id"))
        .col(text("detail", 500))
        .col(utc(m, "created_at"))
        .col(utc_or_null(m, "acknowledged_at"))
        .index(&mut unique("uk_alert", &["kind", "subject"]))
        .take())
}

//! Orders, their items and their events.

use sea_orm_migration::prelude::*;

use crate::columns::{
    big, bytes, drop_tables, foreign, index, json, never_negative, serial, table, text, unique,
    utc, utc_or_null,
};

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        m.create_table(orders(m).await?).await?;
        index(
            m,
            "ix_orders_user",
            "orders",
            &["user_id", "created_at", "id"],
        )
        .await?;
        index(m, "ix_orders_created", "orders", &["created_at", "id"]).await?;
        index(m, "ix_orders_expires", "orders", &["status", "expires_at"]).await?;
        m.create_table(items(m).await?).await?;
        index(m, "ix_order_item_order", "order_item", &["order_id"]).await?;
        m.create_table(events(m).await?).await?;
        index(
            m,
            "ix_order_event_unpublished",
            "order_event",
            &["published_at", "order_id", "seq"],
        )
        .await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &["order_event", "order_item", "orders"]).await
    }
}

async fn orders(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "orders")
        .await?
        .col(big("id").primary_key().take())
        .col(bytes("user_id", 64))
        .col(text("order_type", 16))
        .col(text("policy", 16))
        .col(text("status", 16))
        .col(big("amount"))
        .col(text("currency", 3))
        .col(big("refunded_amount"))
        .col(json("address"))
        .col(big("version"))
        .col(big("last_seq"))
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .col(utc(m, "expires_at"))
        .col(utc_or_null(m, "paid_at"))
        .col(utc_or_null(m, "shipped_at"))
        .col(utc_or_null(m, "finished_at"))
        .col(utc_or_null(m, "closed_at"))
        .check(never_negative("ck_orders_amount", "amount"))
        .check(never_negative(
            "ck_orders_refunded_amount",
            "refunded_amount",
        ))
        .take())
}

async fn items(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "order_item")
        .await?
        .col(serial("id"))
        .col(big("order_id"))
        .col(bytes("user_id", 64))
        .col(big("product_id"))
        .col(text("order_type", 16))
        .col(big("active_slot"))
        .col(big("quantity"))
        .col(big("price"))
        .col(text("sku", 64))
        .col(text("name", 200))
        .index(&mut unique(
            "uk_user_product",
            &["user_id", "product_id", "order_type", "active_slot"],
        ))
        .foreign_key(&mut foreign(
            "fk_order_item_order",
            ("order_item", "order_id"),
            ("orders", "id"),
        ))
        .foreign_key(&mut foreign(
            "fk_order_item_product",
            ("order_item", "product_id"),
            ("product", "id"),
        ))
        .check(never_negative("ck_order_item_quantity", "quantity"))
        .check(never_negative("ck_order_item_price", "price"))
        .take())
}

async fn events(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "order_event")
        .await?
        .col(serial("id"))
        .col(big("order_id"))
        .col(big("seq"))
        .col(text("type", 48))
        .col(ColumnDef::new("from_status").string_len(16))
        .col(text("to_status", 16))
        .col(text("actor", 32))
        .col(json("payload"))
        .col(utc(m, "created_at"))
        .col(utc_or_null(m, "published_at"))
        .index(&mut unique("uk_order_event_seq", &["order_id", "seq"]))
        .foreign_key(&mut foreign(
            "fk_order_event_order",
            ("order_event", "order_id"),
            ("orders", "id"),
        ))
        .take())
}

//! Products, their stock and the ledger of its changes.

use sea_orm_migration::prelude::*;

use crate::columns::{big, drop_tables, foreign, never_negative, serial, table, text, unique, utc};

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        m.create_table(
            table(m, "product")
                .await?
                .col(serial("id"))
                .col(text("sku", 64))
                .col(text("name", 200))
                .col(big("price"))
                .col(text("currency", 3))
                .col(ColumnDef::new("on_sale").boolean().not_null())
                .col(big("version"))
                .col(utc(m, "created_at"))
                .col(utc(m, "updated_at"))
                .index(&mut unique("uk_product_sku", &["sku"]))
                .check(never_negative("ck_product_price", "price"))
                .take(),
        )
        .await?;
        m.create_table(
            table(m, "stock")
                .await?
                .col(big("product_id").primary_key().take())
                .col(big("quantity"))
                .col(big("version"))
                .col(utc(m, "updated_at"))
                .foreign_key(&mut foreign(
                    "fk_stock_product",
                    ("stock", "product_id"),
                    ("product", "id"),
                ))
                .check(never_negative("ck_stock_quantity", "quantity"))
                .take(),
        )
        .await?;
        m.create_table(ledger(m).await?).await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &["stock_ledger", "stock", "product"]).await
    }
}

/// Refers to `product`, never to `stock`: its insert would lock the row that the order updates last.
async fn ledger(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "stock_ledger")
        .await?
        .col(serial("id"))
        .col(big("product_id"))
        .col(big("change"))
        .col(text("reason", 16))
        .col(text("biz_key", 64))
        .col(utc(m, "created_at"))
        .index(&mut unique(
            "uk_stock_ledger",
            &["product_id", "reason", "biz_key"],
        ))
        .foreign_key(&mut foreign(
            "fk_stock_ledger_product",
            ("stock_ledger", "product_id"),
            ("product", "id"),
        ))
        .take())
}

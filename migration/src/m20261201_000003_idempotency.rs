//! The requests whose work was done, and the leases of node numbers.

use sea_orm_migration::prelude::*;

use crate::columns::{big, drop_tables, index, table, text, utc};

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        m.create_table(
            table(m, "idempotency_record")
                .await?
                .col(ColumnDef::new("id").binary_len(32).not_null().primary_key())
                .col(ColumnDef::new("fingerprint").binary_len(32).not_null())
                .col(big("resource_id"))
                .col(ColumnDef::new("status_code").integer().not_null())
                .col(utc(m, "created_at"))
                .col(utc(m, "expires_at"))
                .take(),
        )
        .await?;
        index(
            m,
            "ix_idempotency_record_created",
            "idempotency_record",
            &["created_at"],
        )
        .await?;
        m.create_table(
            table(m, "lease")
                .await?
                .col(text("name", 128).primary_key().take())
                .col(text("holder", 64))
                .col(big("until"))
                .col(big("epoch"))
                .col(big("reserved"))
                .take(),
        )
        .await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(m, &["lease", "idempotency_record"]).await
    }
}

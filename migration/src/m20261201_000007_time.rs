//! What left the tables for the archive, where the archive is, and when jobs ran.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::columns::{big, drop_tables, index, serial, table, text, unique, utc, utc_or_null};

/// An order's failed messages keep its events from being archived: looked for once an event.
const FAILURES_BY_ORDER: (&str, &str) = ("ix_message_failure_order", "message_failure");

/// What the jobs look for their work by.
const INDEXES: [(&str, &str, [&str; 2]); 2] = [
    ("ix_payment_ask", "payment", ["status", "next_ask_at"]),
    (
        "ix_payment_callback_outcome",
        "payment_callback",
        ["outcome", "created_at"],
    ),
];

#[derive(Debug, DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {
        m.create_table(archive_file(m).await?).await?;
        m.create_table(archive_directory(m).await?).await?;
        m.create_table(job_run(m).await?).await?;
        let (name, table) = FAILURES_BY_ORDER;
        index(m, name, table, &["order_id"]).await?;
        for (name, table, columns) in INDEXES {
            index(m, name, table, &columns).await?;
        }
        keep_service_keys(m).await
    }

    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {
        for (name, table, _) in INDEXES {
            if m.has_index(table, name).await? {
                let mut index = Index::drop();
                index.name(name).table(table);
                m.drop_index(index).await?;
            }
        }
        let (name, table) = FAILURES_BY_ORDER;
        if m.has_table(table).await? && m.has_index(table, name).await? {
            let mut index = Index::drop();
            index.name(name).table(table);
            m.drop_index(index).await?;
        }
        drop_tables(m, &["job_run", "archive_directory", "archive_file"]).await
    }
}

async fn archive_file(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "archive_file")
        .await?
        .col(serial("id"))
        .col(text("table_name", 32))
        .col(text("path", 160))
        .col(big("row_count"))
        .col(text("first_key", 128))
        .col(text("last_key", 128))
        .col(utc_or_null(m, "newest_at"))
        .col(text("sha256", 64))
        .col(text("state", 16))
        .col(big("open_slot"))
        .col(utc(m, "created_at"))
        .col(utc(m, "updated_at"))
        .index(&mut unique("uk_archive_file_path", &["path"]))
        .index(&mut unique("uk_archive_file_open", &["open_slot"]))
        .take())
}

/// At most one row, of the id 1.
async fn archive_directory(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "archive_directory")
        .await?
        .col(big("id").primary_key().take())
        .col(text("marker", 36))
        .col(utc(m, "created_at"))
        .take())
}

async fn job_run(m: &SchemaManager<'_>) -> Result<TableCreateStatement, DbErr> {
    Ok(table(m, "job_run")
        .await?
        .col(serial("id"))
        .col(text("job", 32))
        .col(utc(m, "scheduled_at"))
        .col(text("instance", 64))
        .col(utc(m, "started_at"))
        .col(utc_or_null(m, "finished_at"))
        .col(text("outcome", 16))
        .col(text("done", 500))
        .index(&mut unique("uk_job_run", &["job", "scheduled_at"]))
        .take())
}

/// A service's own key for an order was remembered for a day; from here on for as long as its order stands.
/// Order tokens live shorter than that, and what payments and refunds made is no order.
async fn keep_service_keys(m: &SchemaManager<'_>) -> Result<(), DbErr> {
    let (never, lives_a_day) = match m.get_database_backend() {
        DbBackend::MySql => (
            "9999-12-31 00:00:00",
            "TIMESTAMPDIFF(SECOND, created_at, expires_at) >= 86400",
        ),
        _ => (
            "9999-12-31T00:00:00+00:00",
            "unixepoch(expires_at) - unixepoch(created_at) >= 86400",
        ),
    };
    let sql = format!(
        "UPDATE idempotency_record SET expires_at = '{never}' WHERE status_code = 201 \
         AND {lives_a_day} AND EXISTS (SELECT 1 FROM orders o WHERE o.id = resource_id)"
    );
    m.get_connection().execute_unprepared(&sql).await?;
    Ok(())
}

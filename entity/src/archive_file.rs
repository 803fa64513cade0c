//! What left a table for the archive, a row a file.

use sea_orm::entity::prelude::*;

/// The tables whose old rows are archived or purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(32))")]
pub enum Table {
    #[sea_orm(string_value = "payment_callback")]
    PaymentCallback,
    #[sea_orm(string_value = "message_consume_log")]
    MessageConsumeLog,
    #[sea_orm(string_value = "idempotency_record")]
    IdempotencyRecord,
    #[sea_orm(string_value = "order_event")]
    OrderEvent,
}

impl Table {
    pub const ALL: [Self; 4] = [
        Self::PaymentCallback,
        Self::MessageConsumeLog,
        Self::IdempotencyRecord,
        Self::OrderEvent,
    ];

    /// The table's name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaymentCallback => "payment_callback",
            Self::MessageConsumeLog => "message_consume_log",
            Self::IdempotencyRecord => "idempotency_record",
            Self::OrderEvent => "order_event",
        }
    }
}

/// How far a file has come; what is neither DELETED nor PURGED is open, and the next run finishes it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))")]
pub enum State {
    /// The file may be there, whole or in part; its rows are in the table.
    #[sea_orm(string_value = "WRITING")]
    Writing,
    /// Given up while it was WRITING: the file is being removed.
    #[sea_orm(string_value = "DROPPED")]
    Dropped,
    /// The file was read back and is right; some of its rows may still be in the table.
    #[sea_orm(string_value = "VERIFIED")]
    Verified,
    /// The rows are in the file only.
    #[sea_orm(string_value = "DELETED")]
    Deleted,
    /// Rows are being deleted for good, without a file.
    #[sea_orm(string_value = "PURGING")]
    Purging,
    /// There is no file: `rows` rows were deleted for good.
    #[sea_orm(string_value = "PURGED")]
    Purged,
}

impl State {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writing => "WRITING",
            Self::Dropped => "DROPPED",
            Self::Verified => "VERIFIED",
            Self::Deleted => "DELETED",
            Self::Purging => "PURGING",
            Self::Purged => "PURGED",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "archive_file")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    #[sea_orm(column_name = "table_name")]
    pub table: Table,
    /// Below the archive's directory; of what was purged just a name.
    pub path: String,
    /// 0 while WRITING.
    #[sea_orm(column_name = "row_count")]
    pub rows: i64,
    /// The lowest key of its rows: the id, or `{created_at}/{id}` of an `idempotency_record`.
    pub first_key: String,
    pub last_key: String,
    /// The newest `created_at` of its rows.
    pub newest_at: Option<DateTimeUtc>,
    /// Of the file as it lies on the disk, in hexadecimal.
    pub sha256: String,
    pub state: State,
    /// 0 while it is open, then the row's own id: one file at a time, whoever writes.
    pub open_slot: i64,
    pub created_at: DateTimeUtc,
    pub updated_at: DateTimeUtc,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

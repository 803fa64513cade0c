//! The section `[archive]`: what of the old rows is kept, where, and how gently they leave.

use std::time::Duration;

use entity::archive_file::Table;
use serde::Deserialize;

use super::sections::duration;

/// Rows must outlive every honest repeat that looks for them. The longest horizons: Stripe repeats a
/// message for 3 days, Alipay for 25 hours, `WeChat` Pay for 24 hours; `WeChat` Pay tells of a
/// refund's failure up to 7 days after it was asked for; our own keys live a day, and what a gateway
/// was asked about is asked again every 6 hours.
pub const SHORTEST_RETENTION: Duration = Duration::from_hours(7 * 24);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    pub directory: String,
    /// How old rows become before they leave; every time below this one a row may still change.
    #[serde(deserialize_with = "duration")]
    pub retention: Duration,
    /// How long one run may take; what is left waits for the next.
    #[serde(deserialize_with = "duration")]
    pub window: Duration,
    /// Rows of one file.
    pub batch: usize,
    /// Rows that one transaction deletes.
    pub slice: usize,
    /// Between two such transactions.
    #[serde(deserialize_with = "duration")]
    pub pause: Duration,
    pub tables: ArchiveTables,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveTables {
    pub payment_callback: Mode,
    pub message_consume_log: Mode,
    pub idempotency_record: Mode,
    pub order_event: Mode,
}

/// What becomes of a table's old rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They go into files.
    Archive,
    /// They are deleted for good.
    Purge,
}

impl Archive {
    pub const fn mode(&self, table: Table) -> Mode {
        match table {
            Table::PaymentCallback => self.tables.payment_callback,
            Table::MessageConsumeLog => self.tables.message_consume_log,
            Table::IdempotencyRecord => self.tables.idempotency_record,
            Table::OrderEvent => self.tables.order_event,
        }
    }
}

//! What the archive goes by: keys that ascend within a table, and what is old.

use std::fmt::{self, Write};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use entity::archive_file::Table;
use serde_json::Value;

/// How far the clocks of two instances may differ.
const CLOCK_DIFFERENCE: TimeDelta = TimeDelta::hours(1);

/// What a row is paged, found in a file and deleted by; ascends in its table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Id(i64),
    /// Of an `idempotency_record`, whose id is a hash.
    Hash {
        created_at: DateTime<Utc>,
        id: Vec<u8>,
    },
}

impl Key {
    /// The key of the row that a line of a file holds; `None` when it holds none of that table.
    pub fn of_line(table: Table, line: &str) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let id = line.get("id")?.as_str()?;
        if table != Table::IdempotencyRecord {
            return id.parse().ok().map(Self::Id);
        }
        let created_at = line.get("created_at")?.as_str()?;
        let created_at = DateTime::parse_from_rfc3339(created_at).ok()?.to_utc();
        let id = from_hex(id)?;
        Some(Self::Hash { created_at, id })
    }

    /// How the name of a file begins whose first row has this key: names sort like keys.
    pub fn file_stem(&self) -> String {
        match self {
            Self::Id(id) => format!("{id:019}"),
            Self::Hash { created_at, .. } => created_at.format("%Y%m%dT%H%M%S%.6f").to_string(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Hash { created_at, id } => write!(f, "{}/{}", moment(*created_at), hex(id)),
        }
    }
}

/// What a run takes for old.
#[derive(Debug, Clone, Copy)]
pub struct Age {
    /// Rows that were made before are old.
    pub before: DateTime<Utc>,
    pub now: DateTime<Utc>,
}

impl Age {
    pub fn beyond(retention: TimeDelta, now: DateTime<Utc>) -> Self {
        let before = now - retention;
        Self { before, now }
    }
}

/// Rows that were made later may still change: none of them is old to any instance.
pub fn changeable_since(retention: TimeDelta, now: DateTime<Utc>) -> DateTime<Utc> {
    now - retention + CLOCK_DIFFERENCE
}

/// UTC with microseconds, as files tell it.
pub fn moment(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.len().is_multiple_of(2).then(|| pairs.collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_key_of_its_row() {
        let event = r#"{"id":"9007199254740993","seq":1}"#;
        let record = r#"{"id":"00ff","created_at":"2026-12-23T04:26:40.000001Z"}"#;

        let id = Key::of_line(Table::OrderEvent, event);
        let hash = Key::of_line(Table::IdempotencyRecord, record).expect("a key");

        assert_eq!(id, Some(Key::Id(9_007_199_254_740_993)));
        assert_eq!(hash.to_string(), "2026-12-23T04:26:40.000001Z/00ff");
        assert_eq!(hash.file_stem(), "20261223T042640.000001");
    }

    #[test]
    fn a_line_of_something_else_has_no_key() {
        for line in ["", "{}", r#"{"id":7}"#, r#"{"id":"x"}"#] {
            assert_eq!(Key::of_line(Table::PaymentCallback, line), None, "{line}");
        }
        let odd = r#"{"id":"00f","created_at":"2026-12-23T04:26:40Z"}"#;
        assert_eq!(Key::of_line(Table::IdempotencyRecord, odd), None);
    }
}

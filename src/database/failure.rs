//! What a database error means: a conflict that a retry can resolve, trouble with the database, or a violated unique key.

use sea_orm::sqlx::mysql::MySqlDatabaseError;
use sea_orm::sqlx::{self, error::DatabaseError};
use sea_orm::{DbErr, RuntimeErr};

use super::trouble::Trouble;
use crate::error::Error;

/// No connection was free in time.
const BUSY: &str = "no connection was free in time";
/// A deadline came first.
const LATE: &str = "the database did not answer before the deadline; the outcome is unknown";
/// Another file than the one that was opened, or none, is at the path.
const FILE_GONE: &str = "the database file was removed or replaced";

/// The names of unique keys by their columns, as `SQLite`'s messages name only the columns.
const UNIQUE_KEYS: [(&str, &str); 23] = [
    ("uk_product_sku", "product.sku"),
    (
        "uk_stock_ledger",
        "stock_ledger.product_id, stock_ledger.reason, stock_ledger.biz_key",
    ),
    ("pk_orders", "orders.id"),
    (
        "uk_user_product",
        "order_item.user_id, order_item.product_id, order_item.order_type, order_item.active_slot",
    ),
    (
        "uk_order_event_seq",
        "order_event.order_id, order_event.seq",
    ),
    ("pk_idempotency_record", "idempotency_record.id"),
    ("pk_lease", "lease.name"),
    ("pk_stock", "stock.product_id"),
    ("pk_product", "product.id"),
    ("uk_payment_live", "payment.order_id, payment.live_slot"),
    (
        "uk_payment_callback_event",
        "payment_callback.gateway, payment_callback.event_id",
    ),
    (
        "uk_payment_callback_biz",
        "payment_callback.gateway, payment_callback.biz_key",
    ),
    ("uk_refund_no", "refund.payment_id, refund.refund_no"),
    ("uk_alert", "alert.kind, alert.subject"),
    (
        "uk_consume_log",
        "message_consume_log.consumer, message_consume_log.biz_key",
    ),
    (
        "uk_message_failure",
        "message_failure.consumer, message_failure.event_id",
    ),
    ("pk_points_account", "points_account.user_id"),
    (
        "uk_points_ledger",
        "points_ledger.user_id, points_ledger.biz_key",
    ),
    (
        "uk_notification",
        "notification.user_id, notification.biz_key",
    ),
    ("uk_archive_file_path", "archive_file.path"),
    ("uk_archive_file_open", "archive_file.open_slot"),
    ("pk_archive_directory", "archive_directory.id"),
    ("uk_job_run", "job_run.job, job_run.scheduled_at"),
];

/// What kind of failure an error is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Another transaction was in the way; the whole transaction may be run again.
    Conflict,
    /// Not the statement's fault: the database is away, full, read-only …
    Trouble(Trouble),
    /// A unique key was violated: `MySQL`'s name of it (`PRIMARY` for a primary key), or ours.
    Duplicate(String),
    Other,
}

impl Failure {
    pub fn of(error: &DbErr) -> Self {
        let failure = match error {
            DbErr::Conn(RuntimeErr::Internal(said)) if said == BUSY => return Self::Conflict,
            DbErr::Conn(RuntimeErr::Internal(said)) if said == FILE_GONE => {
                return Self::Trouble(Trouble::FileGone);
            }
            other => runtime_error(other).map(Self::of_driver),
        };
        match (failure, error) {
            (Some(Self::Other) | None, DbErr::ConnectionAcquire(_) | DbErr::Conn(_)) => {
                // A server that refuses the connection: whatever its reason, the statement was not sent.
                Self::Trouble(Trouble::Unreachable)
            }
            (failure, _) => failure.unwrap_or(Self::Other),
        }
    }

    /// Whether `MySQL` gave up waiting for a row that another transaction holds (1205).
    pub fn is_lock_wait(error: &DbErr) -> bool {
        mysql_number(error) == Some(1205)
    }

    fn of_driver(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => Self::of_database(error.as_ref()),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::Protocol(_) => Self::Trouble(Trouble::Unreachable),
            _ => Self::Other,
        }
    }

    fn of_database(error: &dyn DatabaseError) -> Self {
        if let Some(error) = error.try_downcast_ref::<MySqlDatabaseError>() {
            return match error.number() {
                1213 | 1205 | 1020 => Self::Conflict,
                1062 => Self::Duplicate(mysql_key(error.message())),
                number => mysql_trouble(number).map_or(Self::Other, Self::Trouble),
            };
        }
        if error.is_unique_violation() {
            return Self::Duplicate(sqlite_key(error.message()));
        }
        let code = error
            .code()
            .and_then(|code| code.parse::<i32>().ok())
            .unwrap_or_default();
        // The low byte is the primary result code: SQLITE_BUSY and SQLITE_LOCKED are another's transaction.
        match code & 0xff {
            5 | 6 => Self::Conflict,
            primary => sqlite_trouble(primary).map_or(Self::Other, Self::Trouble),
        }
    }
}

impl From<sea_orm::DbErr> for Error {
    /// The error that a client gets when no caller gave the failure a meaning of its own.
    fn from(error: sea_orm::DbErr) -> Self {
        match Failure::of(&error) {
            Failure::Conflict => Self::Busy,
            Failure::Trouble(_) => Self::Unavailable(error),
            Failure::Duplicate(_) | Failure::Other => Self::Internal(error.to_string()),
        }
    }
}

/// Numbers of the server, not of the statement (MariaDB's list of error codes).
const fn mysql_trouble(number: u16) -> Option<Trouble> {
    Some(match number {
        // Too many connections: of the server, of the user.
        1040 | 1203 | 1226 => Trouble::TooManyConnections,
        // Shutting down, killed, aborted, host blocked, network; Galera's node is not ready; closed for its rest.
        1047 | 1053 | 1077 | 1079 | 1129 | 1152 | 1158..=1161 | 1927 | 4031 => Trouble::Unreachable,
        // Some read lock or option, or InnoDB itself.
        1223 | 1290 | 1792 | 1836 | 1874 => Trouble::ReadOnly,
        // Disk full, table full.
        1021 | 1114 => Trouble::Full,
        // Creating, reading, writing, renaming a file; the storage engine.
        3 | 1004 | 1024 | 1026 | 1030 => Trouble::IoError,
        1034 | 1035 | 1194 => Trouble::Damaged,
        // Error during COMMIT; a plugin (group replication) refused it.
        1180 | 3100 => Trouble::CommitFails,
        _ => return None,
    })
}

/// `SQLite`'s primary result codes.
const fn sqlite_trouble(primary: i32) -> Option<Trouble> {
    Some(match primary {
        8 => Trouble::ReadOnly,
        10 | 14 => Trouble::IoError,
        11 | 26 => Trouble::Damaged,
        13 => Trouble::Full,
        _ => return None,
    })
}

/// The error for: no connection was free in time, which is load and no trouble.
pub fn busy() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(BUSY.to_owned()))
}

/// The error for: the deadline came before the database's answer.
pub fn late() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(LATE.to_owned()))
}

pub fn file_gone() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(FILE_GONE.to_owned()))
}

/// Whether a server turned a connection away because it has too many.
pub fn is_refused_connection(error: &sqlx::Error) -> bool {
    matches!(
        Failure::of_driver(error),
        Failure::Trouble(Trouble::TooManyConnections)
    )
}

/// Lets the caller of an insert say what a violation of a unique key means.
pub trait OnDuplicate<T> {
    /// `meaning` when exactly the key `name` was violated; any other failure stays what it is.
    fn on_duplicate<E: From<Error>>(self, name: &str, meaning: E) -> Result<T, E>;
}

impl<T> OnDuplicate<T> for Result<T, DbErr> {
    fn on_duplicate<E: From<Error>>(self, name: &str, meaning: E) -> Result<T, E> {
        self.map_err(|error| match Failure::of(&error) {
            Failure::Duplicate(key) if is_key(&key, name) => meaning,
            _ => Error::from(error).into(),
        })
    }
}

/// Whether `key`, as the database tells it, is our `name`; one statement writes one table.
pub fn is_key(key: &str, name: &str) -> bool {
    key == name || (key == "PRIMARY" && name.starts_with("pk_"))
}

/// The last `for key 'table.name'`: what comes before may be a client's text.
fn mysql_key(message: &str) -> String {
    let quoted = message.rsplit("for key ").next().unwrap_or_default();
    let name = quoted.trim_matches('\'');
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

fn sqlite_key(message: &str) -> String {
    let columns = message
        .rsplit("constraint failed: ")
        .next()
        .unwrap_or_default();
    UNIQUE_KEYS
        .iter()
        .find(|(_, key_columns)| *key_columns == columns)
        .map_or_else(|| columns.to_owned(), |(name, _)| (*name).to_owned())
}

fn mysql_number(error: &DbErr) -> Option<u16> {
    let Some(sqlx::Error::Database(error)) = runtime_error(error) else {
        return None;
    };
    error
        .try_downcast_ref::<MySqlDatabaseError>()
        .map(MySqlDatabaseError::number)
}

fn runtime_error(error: &DbErr) -> Option<&sqlx::Error> {
    let (DbErr::Conn(error) | DbErr::Exec(error) | DbErr::Query(error)) = error else {
        return None;
    };
    match error {
        RuntimeErr::SqlxError(error) => Some(error.as_ref()),
        RuntimeErr::Internal(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_key_of_a_message_counts() {
        let hostile =
            "Duplicate entry 'x' for key 'PRIMARY'-1' for key 'order_item.uk_user_product'";

        assert_eq!(mysql_key(hostile), "uk_user_product");
        assert_eq!(
            mysql_key("Duplicate entry '7' for key 'PRIMARY'"),
            "PRIMARY"
        );
    }

    #[test]
    fn sqlite_columns_have_our_names() {
        assert_eq!(
            sqlite_key("UNIQUE constraint failed: orders.id"),
            "pk_orders"
        );
        assert_eq!(sqlite_key("UNIQUE constraint failed: a.b"), "a.b");
    }
}

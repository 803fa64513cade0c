//! Opening the connection pools: for `SQLite` one writer and a pool of readers, for `MySQL` one pool. Each connection gets
//! the same session settings.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Executor};
use sea_orm::{DatabaseConnection, DbErr, RuntimeErr, SqlxMySqlConnector};
use tokio::time::Instant;

use super::health::Health;
use super::pool::{Driver, Pool};
use super::sqlite_file::SqliteFile;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::settings;

/// The statements that each new `MySQL` connection runs first.
///
/// `MariaDB` also ends a transaction whose client says nothing for five seconds: a network that was
/// cut tells nobody, and its locks would be held for hours. `MySQL` has no such setting.
const MYSQL_SESSION: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 3 /*M!100300 , idle_transaction_timeout = 5 */",
];

/// The driver gets no time-out of its own: whoever waits for a connection has a deadline.
const NO_TIMEOUT: Duration = Duration::from_hours(24);

/// What the connections are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Serving and everything that writes; on `SQLite` only one process at a time.
    Exclusive,
    /// A look at the data, or a small change, while a server may be running.
    Beside,
}

/// The pools of a process.
#[derive(Debug)]
pub struct Opened {
    pub write: Arc<Pool>,
    /// On `MySQL` the same as `write`.
    pub read: Arc<Pool>,
    /// Refuses a second server on the same `SQLite` file for as long as it lives.
    pub file_lock: Option<Arc<File>>,
}

pub async fn open(
    settings: &settings::Database,
    access: Access,
    metrics: Arc<Metrics>,
) -> Result<Opened> {
    let health = Arc::new(Health::new(settings.test_after, metrics));
    let opened = if settings.url.starts_with("sqlite:") {
        open_sqlite(settings, access, health).await?
    } else {
        let pool = Arc::new(open_mysql(settings, health)?);
        Opened {
            write: Arc::clone(&pool),
            read: pool,
            file_lock: None,
        }
    };
    for pool in [&opened.write, &opened.read] {
        let until = Instant::now() + settings.acquire_timeout;
        pool.lend(until).await.map_err(Error::Unavailable)?;
    }
    Ok(opened)
}

/// One `MySQL` connection of its own, for what is bound to a session.
pub async fn open_single(settings: &settings::Database) -> Result<DatabaseConnection> {
    let pool = MySqlPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(settings.acquire_timeout)
        .connect_with(mysql_options(settings)?)
        .await
        .map_err(unavailable)?;
    Ok(SqlxMySqlConnector::from_sqlx_mysql_pool(pool))
}

fn open_mysql(settings: &settings::Database, health: Arc<Health>) -> Result<Pool> {
    let options = MySqlPoolOptions::new()
        .max_connections(settings.max_connections)
        .acquire_timeout(settings.acquire_timeout)
        .idle_timeout(settings.idle_timeout)
        .max_lifetime(settings.max_lifetime)
        .after_connect(|connection, _| {
            Box::pin(async move {
                for statement in MYSQL_SESSION {
                    connection.execute(statement).await?;
                }
                Ok(())
            })
        });
    let pool = health
        .watch(options)
        .connect_lazy_with(mysql_options(settings)?);
    Ok(Pool::new(
        Driver::MySql(pool),
        health,
        None,
        settings.acquire_timeout,
    ))
}

async fn open_sqlite(
    settings: &settings::Database,
    access: Access,
    health: Arc<Health>,
) -> Result<Opened> {
    let Some(path) = sqlite_path(&settings.url) else {
        return Err(Error::Start(
            "ORDER__DATABASE__URL names no file: use sqlite://path/to/orders.db".to_owned(),
        ));
    };
    let file_lock = match access {
        Access::Exclusive => Some(Arc::new(lock_file(&path)?)),
        Access::Beside => None,
    };
    let options = sqlite_options(&path);
    // Only here: a file that goes away later must not come back empty, and who comes beside makes no empty file of a
    // misspelt path.
    let first = options
        .clone()
        .create_if_missing(access == Access::Exclusive);
    let first = first.connect().await.map_err(unavailable)?;
    first.close().await.map_err(unavailable)?;
    let file = Arc::new(SqliteFile::at(path));
    let pool = |connections| {
        let pool = SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(NO_TIMEOUT)
            .idle_timeout(None)
            .max_lifetime(None);
        let pool = health.watch(pool).connect_lazy_with(options.clone());
        Arc::new(Pool::new(
            Driver::Sqlite(pool),
            Arc::clone(&health),
            Some(Arc::clone(&file)),
            settings.acquire_timeout,
        ))
    };
    let (write, read) = (pool(1), pool(settings.max_connections.min(8)));
    Pool::renew_together(&[&write, &read], &health);
    Ok(Opened {
        write,
        read,
        file_lock,
    })
}

fn unavailable(error: sqlx::Error) -> Error {
    Error::Unavailable(DbErr::Conn(RuntimeErr::SqlxError(error.into())))
}

/// The file of `sqlite://path`, without options; `None` for a database in memory.
fn sqlite_path(url: &str) -> Option<PathBuf> {
    let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
    let path = path.split('?').next().unwrap_or_default();
    (!path.is_empty() && !path.contains(":memory:")).then(|| PathBuf::from(path))
}

/// Holds `<file>.lock` for the life of the process; the system frees it however the process ends.
fn lock_file(path: &Path) -> Result<File> {
    let failed = |error: std::io::Error| {
        Error::Start(format!(
            "the database file {} cannot be used: {error}",
            path.display()
        ))
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = File::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(name)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Start(format!(
            "another server uses {}: stop it, or give this one another ORDER__DATABASE__URL",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn sqlite_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(3))
        .foreign_keys(true)
        .disable_statement_logging()
}

fn mysql_options(settings: &settings::Database) -> Result<MySqlConnectOptions> {
    let url = settings.url.replacen("mariadb:", "mysql:", 1);
    // Without the cause, which may quote the password.
    let problem = "cannot be understood: use mysql://user:password@host:3306/orders";
    url.parse::<MySqlConnectOptions>()
        .map(ConnectOptions::disable_statement_logging)
        .map_err(|_unsaid| Error::Start(format!("ORDER__DATABASE__URL {problem}")))
}

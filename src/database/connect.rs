//! Opening the connections: `SQLite` with one writer, `MySQL` with a pool; both set up the same way each time.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::mysql::MySqlConnectOptions;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Executor};
use sea_orm::{ConnectOptions, DatabaseConnection};

use crate::error::{Error, Result};
use crate::settings;

/// Said to each `MySQL` connection when it opens.
const MYSQL_SESSION: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 3",
];

/// What the connections are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Serving and everything that writes; on `SQLite` only one process at a time.
    Exclusive,
    /// A look at the data, or a small change, while a server may be running.
    Beside,
}

type Opened = (DatabaseConnection, DatabaseConnection, Option<Arc<File>>);

pub async fn open(settings: &settings::Database, access: Access) -> Result<Opened> {
    if settings.url.starts_with("sqlite:") {
        open_sqlite(settings, access).await
    } else {
        let pool = connect(mysql_options(settings, settings.max_connections)?).await?;
        Ok((pool.clone(), pool, None))
    }
}

/// One `MySQL` connection of its own, for what is bound to a session.
pub async fn open_single(settings: &settings::Database) -> Result<DatabaseConnection> {
    connect(mysql_options(settings, 1)?).await
}

async fn open_sqlite(settings: &settings::Database, access: Access) -> Result<Opened> {
    let Some(path) = sqlite_path(&settings.url) else {
        return Err(Error::Start(
            "ORDER__DATABASE__URL names no file: use sqlite://path/to/orders.db".to_owned(),
        ));
    };
    let lock = match access {
        Access::Exclusive => Some(Arc::new(lock_file(&path)?)),
        Access::Beside => None,
    };
    // Who comes beside makes no empty file of a misspelt path.
    let mode = match access {
        Access::Exclusive => "rwc",
        Access::Beside => "rw",
    };
    let url = format!("sqlite://{}?mode={mode}", path.display());
    let write = connect(sqlite_options(&url, settings, 1)).await?;
    let read = connect(sqlite_options(
        &url,
        settings,
        settings.max_connections.min(8),
    ))
    .await?;
    Ok((write, read, lock))
}

async fn connect(options: ConnectOptions) -> Result<DatabaseConnection> {
    sea_orm::Database::connect(options)
        .await
        .map_err(Error::Unavailable)
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

fn sqlite_options(url: &str, settings: &settings::Database, connections: u32) -> ConnectOptions {
    let mut options = common_options(url, settings, connections);
    options.map_sqlx_sqlite_opts(|sqlite| {
        sqlite
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(3))
            .foreign_keys(true)
    });
    options
}

fn mysql_options(settings: &settings::Database, connections: u32) -> Result<ConnectOptions> {
    let url = settings.url.replacen("mariadb:", "mysql:", 1);
    if url.parse::<MySqlConnectOptions>().is_err() {
        // Without the cause, which may quote the password.
        let problem = "cannot be understood: use mysql://user:password@host:3306/orders";
        return Err(Error::Start(format!("ORDER__DATABASE__URL {problem}")));
    }
    let mut options = common_options(&url, settings, connections);
    options.map_sqlx_mysql_pool_opts(|pool| {
        pool.after_connect(|connection, _| {
            Box::pin(async move {
                for statement in MYSQL_SESSION {
                    connection.execute(statement).await?;
                }
                Ok::<(), sqlx::Error>(())
            })
        })
    });
    Ok(options)
}

fn common_options(url: &str, settings: &settings::Database, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(settings.acquire_timeout)
        .connect_timeout(settings.acquire_timeout)
        // A ping before each use would be one more round trip of every request.
        .test_before_acquire(false)
        .sqlx_logging(false);
    options
}

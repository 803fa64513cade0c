//! Bringing the schema up to date, one instance at a time.

use migration::{Migrator, MigratorTrait};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, SqlxSqliteConnector, Statement};

use super::connect;
use super::handle::Database;
use super::pool::Driver;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// How many seconds an instance waits for another one that migrates.
const WAIT_SECONDS: i64 = 120;
/// Begins the lock's name; a hash of the database's name in 32 digits follows, as `MySQL` takes 64 characters.
const LOCK_PREFIX: &str = "order-service:";

impl Database {
    /// Runs `work` on one connection while no other instance does: `GET_LOCK` on `MySQL`, the file
    /// lock that this process holds on `SQLite`.
    pub async fn alone<T>(
        &self,
        settings: &Settings,
        work: impl AsyncFnOnce(&DatabaseConnection) -> Result<T>,
    ) -> Result<T> {
        if let Driver::Sqlite(pool) = &self.write.pool.driver {
            return work(&SqlxSqliteConnector::from_sqlx_sqlite_pool(pool.clone())).await;
        }
        let connection = connect::open_single(&settings.database).await?;
        get_lock(&connection).await?;
        let result = work(&connection).await;
        // Closing the connection also releases the lock, which belongs to it.
        connection.close().await?;
        result
    }
}

/// Applies every step that is missing.
pub async fn up(connection: &DatabaseConnection) -> Result<()> {
    Ok(Migrator::up(connection, None).await?)
}

/// Takes back the last `steps` steps, or all of them.
pub async fn down(connection: &DatabaseConnection, steps: Option<u32>) -> Result<()> {
    Ok(Migrator::down(connection, steps).await?)
}

async fn get_lock(connection: &DatabaseConnection) -> Result<()> {
    let statement = Statement::from_sql_and_values(
        DbBackend::MySql,
        "SELECT GET_LOCK(CONCAT(?, MD5(DATABASE())), ?) AS held",
        [LOCK_PREFIX.into(), WAIT_SECONDS.into()],
    );
    let row = connection.query_one_raw(statement).await?;
    let held = row
        .map(|row| row.try_get::<Option<i64>>("", "held"))
        .transpose()?
        .flatten();
    match held {
        Some(1) => Ok(()),
        _ => Err(Error::Start(format!(
            "another instance has been migrating for {WAIT_SECONDS} seconds; try again when it is done"
        ))),
    }
}

//! One connection, lent for one statement or one transaction. It goes back to the pool only when the database answered
//! its last statement and no transaction is open on it; else it is closed, whatever the driver believes about it.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::query::Query;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Executor, MySql, Sqlite};
use sea_orm::{DbErr, ExecResult, QueryResult, RuntimeErr, Statement, Values};
use sea_query_sqlx::SqlxValues;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::failure::Failure;
use super::health::Health;
use super::trouble::Trouble;

/// How long a connection may take to go back to the pool; after that it is closed.
const RETURN: Duration = Duration::from_secs(2);

/// A pool's connection to either database.
#[derive(Debug)]
pub enum Connection {
    MySql(PoolConnection<MySql>),
    Sqlite(PoolConnection<Sqlite>),
}

/// What keeps a connection from going back to the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Debt {
    None,
    /// A statement was sent and has not been answered.
    Answer,
    /// It broke, or its server takes no writes any more.
    Broken,
}

#[derive(Debug)]
pub struct Lent {
    /// `None` only while it is dropped.
    held: Option<(Connection, OwnedSemaphorePermit)>,
    health: Arc<Health>,
    debt: Debt,
    in_transaction: bool,
}

/// Runs the same on either connection.
macro_rules! on {
    ($lent:expr, $connection:ident => $run:expr) => {
        match $lent.held.as_mut().map(|(connection, _)| connection) {
            Some(Connection::MySql($connection)) => $run,
            Some(Connection::Sqlite($connection)) => $run,
            None => Err(sqlx::Error::PoolClosed),
        }
    };
}

impl Lent {
    pub const fn new(
        connection: Connection,
        place: OwnedSemaphorePermit,
        health: Arc<Health>,
    ) -> Self {
        Self {
            held: Some((connection, place)),
            health,
            debt: Debt::None,
            in_transaction: false,
        }
    }

    pub async fn execute(&mut self, statement: &Statement) -> Result<ExecResult, DbErr> {
        self.debt = Debt::Answer;
        let answer = match self.held.as_mut().map(|(connection, _)| connection) {
            Some(Connection::MySql(connection)) => prepared(statement)
                .execute(&mut **connection)
                .await
                .map(ExecResult::from),
            Some(Connection::Sqlite(connection)) => prepared(statement)
                .execute(&mut **connection)
                .await
                .map(ExecResult::from),
            None => Err(sqlx::Error::PoolClosed),
        };
        self.answered(answer, DbErr::Exec)
    }

    pub async fn query_one(&mut self, statement: &Statement) -> Result<Option<QueryResult>, DbErr> {
        self.debt = Debt::Answer;
        let answer = on!(self, connection => prepared(statement)
            .fetch_optional(&mut **connection)
            .await
            .map(|row| row.map(QueryResult::from)));
        self.answered(answer, DbErr::Query)
    }

    pub async fn query_all(&mut self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.debt = Debt::Answer;
        let answer = on!(self, connection => prepared(statement)
            .fetch_all(&mut **connection)
            .await
            .map(|rows| rows.into_iter().map(QueryResult::from).collect()));
        self.answered(answer, DbErr::Query)
    }

    /// Sends SQL text as it is, for statements that cannot be prepared.
    pub async fn say(&mut self, sql: &str) -> Result<ExecResult, DbErr> {
        self.debt = Debt::Answer;
        let answer = on!(self, connection => (&mut **connection)
            .execute(AssertSqlSafe(sql))
            .await
            .map(ExecResult::from));
        self.answered(answer, DbErr::Exec)
    }

    /// Begins a transaction with the caller's statements. A failure closes the connection, as its state is unknown.
    pub async fn begin(&mut self, words: &[&str]) -> Result<(), DbErr> {
        self.in_transaction = true;
        for sql in words {
            self.say(sql).await?;
        }
        Ok(())
    }

    /// Sends COMMIT or ROLLBACK. The transaction has ended only if the database answers OK.
    pub async fn end(&mut self, word: &str) -> Result<(), DbErr> {
        self.say(word).await?;
        self.in_transaction = false;
        Ok(())
    }

    fn answered<T>(
        &mut self,
        answer: Result<T, sqlx::Error>,
        kind: fn(RuntimeErr) -> DbErr,
    ) -> Result<T, DbErr> {
        self.debt = Debt::None;
        answer.map_err(|error| {
            let error = kind(RuntimeErr::SqlxError(error.into()));
            if let Failure::Trouble(trouble) = Failure::of(&error) {
                self.debt = Debt::Broken;
                match trouble {
                    Trouble::ReadOnly | Trouble::IoError | Trouble::Damaged => self.health.retire(),
                    Trouble::Unreachable => self.health.suspect(),
                    _ => {}
                }
            }
            error
        })
    }

    /// Why the connection must not go back to the pool; the label of the metric that counts it.
    const fn reason(&self) -> Option<&'static str> {
        match (self.debt, self.in_transaction) {
            (Debt::Answer, _) => Some("unanswered"),
            (Debt::Broken, _) => Some("broken"),
            (Debt::None, true) => Some("in_transaction"),
            (Debt::None, false) => None,
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some((connection, place)) = self.held.take() else {
            return;
        };
        match (self.reason(), Handle::try_current()) {
            (None, Ok(runtime)) => drop(runtime.spawn(give_back(connection, place))),
            (reason, _) => {
                self.health.closed(reason.unwrap_or("shutdown"));
                close(connection, place);
            }
        }
    }
}

/// Gives the connection back first and frees its place after that, so that whoever takes the place finds it.
async fn give_back(mut connection: Connection, place: OwnedSemaphorePermit) {
    // If that takes too long the driver drops the connection, and the pool opens another.
    let _ = match &mut connection {
        Connection::MySql(connection) => timeout(RETURN, connection.return_to_pool()).await,
        Connection::Sqlite(connection) => timeout(RETURN, connection.return_to_pool()).await,
    };
    drop(connection);
    drop(place);
}

/// Closes the connection at once without a goodbye; the server, or `SQLite`, rolls back an open transaction.
///
/// A `SQLite` connection is a thread that may hang in a disk operation; its place is freed when the thread ends.
fn close(connection: Connection, place: OwnedSemaphorePermit) {
    match (connection, Handle::try_current()) {
        (Connection::MySql(connection), _) => drop(connection.detach()),
        (Connection::Sqlite(connection), Err(_no_runtime)) => drop(connection.detach()),
        (Connection::Sqlite(connection), Ok(runtime)) => {
            let connection = connection.detach();
            drop(runtime.spawn(async move {
                let _ = connection.close().await;
                drop(place);
            }));
        }
    }
}

fn prepared<DB>(statement: &Statement) -> Query<'_, DB, SqlxValues>
where
    DB: sqlx::Database,
    SqlxValues: sqlx::IntoArguments<DB>,
{
    let values = statement.values.clone().unwrap_or(Values(Vec::new()));
    sqlx::query_with(AssertSqlSafe(statement.sql.as_str()), SqlxValues(values))
}

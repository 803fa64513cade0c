//! One transaction on one connection, never nested in another; only an answered COMMIT or ROLLBACK ends it.

use sea_orm::prelude::async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::failure::{self, Failure};
use super::lent::Lent;
use super::single::is_read;
use crate::deadline::in_time;

/// A transaction; statements that must be atomic together run on it.
///
/// After a statement that failed for anything but a unique key or a lock wait nothing more is run
/// and nothing is committed: the database may have rolled back by itself (a deadlock, a full disk),
/// and what followed would be stored statement by statement.
#[derive(Debug)]
pub struct Transaction {
    backend: DbBackend,
    until: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    lent: Lent,
    /// The failure because of which the transaction cannot be committed any more.
    broken: Option<DbErr>,
    /// Whether any statement changed something.
    wrote: bool,
}

impl Transaction {
    /// Begins with these statements on a connection without an open transaction. If one is open after all, they
    /// fail, and the connection is closed.
    pub(super) async fn begin(
        mut lent: Lent,
        backend: DbBackend,
        words: &[&str],
        until: Instant,
    ) -> Result<Self, DbErr> {
        in_time(until, lent.begin(words))
            .await
            .unwrap_or_else(|_passed| Err(failure::late()))?;
        let state = Mutex::new(State {
            lent,
            broken: None,
            wrote: false,
        });
        Ok(Self {
            backend,
            until,
            state,
        })
    }

    /// Commits; true when anything was stored. After an error the outcome is unknown, and the connection is closed.
    pub(super) async fn commit(self) -> Result<bool, DbErr> {
        let mut state = self.state.into_inner();
        if let Some(why) = state.broken {
            return Err(why);
        }
        in_time(self.until, state.lent.end("COMMIT"))
            .await
            .unwrap_or_else(|_passed| Err(failure::late()))?;
        Ok(state.wrote)
    }

    /// Rolls back. If the database does not answer, the connection is closed, which rolls back as well.
    pub(super) async fn rollback(self) {
        let mut state = self.state.into_inner();
        let _ = in_time(self.until, state.lent.end("ROLLBACK")).await;
    }

    async fn next_statement(&self) -> Result<MutexGuard<'_, State>, DbErr> {
        let state = self.state.lock().await;
        match &state.broken {
            Some(why) => Err(why.clone()),
            None => Ok(state),
        }
    }
}

impl State {
    fn ended<T>(
        &mut self,
        answer: Result<Result<T, DbErr>, crate::deadline::Passed>,
    ) -> Result<T, DbErr> {
        let result = answer.unwrap_or_else(|_passed| Err(failure::late()));
        if let Err(error) = &result {
            let is_harmless =
                matches!(Failure::of(error), Failure::Duplicate(_)) || Failure::is_lock_wait(error);
            if !is_harmless {
                self.broken = Some(error.clone());
            }
        }
        result
    }

    fn changed(&mut self, result: Result<ExecResult, DbErr>) -> Result<ExecResult, DbErr> {
        self.wrote |= result.as_ref().is_ok_and(|done| done.rows_affected() > 0);
        result
    }
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.backend
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let mut state = self.next_statement().await?;
        let answer = in_time(self.until, state.lent.execute(&statement)).await;
        let result = state.ended(answer);
        state.changed(result)
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let mut state = self.next_statement().await?;
        let answer = in_time(self.until, state.lent.say(sql)).await;
        let result = state.ended(answer);
        state.changed(result)
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut state = self.next_statement().await?;
        let answer = in_time(self.until, state.lent.query_one(&statement)).await;
        let result = state.ended(answer);
        // A statement that returns a row may also be a change, such as INSERT … RETURNING.
        state.wrote |= !is_read(&statement.sql) && matches!(result, Ok(Some(_)));
        result
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut state = self.next_statement().await?;
        let answer = in_time(self.until, state.lent.query_all(&statement)).await;
        state.ended(answer)
    }
}

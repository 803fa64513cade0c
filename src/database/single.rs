//! Single statements without a transaction; each borrows a connection for as long as it runs.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::prelude::async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use tokio::time::Instant;

use super::failure::{self, Failure};
use super::lent::Lent;
use super::pool::{Driver, Pool};
use super::trouble::Trouble;
use super::watch::Watch;
use crate::deadline;

/// How often a read is run: the first connection may be dead, the second is tested.
const TRIES: u32 = 3;

/// Runs reads, and changes that need only one statement.
///
/// A read that met a dead connection is run again on another. A change is not, as it may have been done: the
/// caller gets an error, and the outcome is unknown.
#[derive(Debug, Clone)]
pub struct Single {
    pub(super) pool: Arc<Pool>,
    pub(super) watch: Arc<Watch>,
    /// The deadline of statements whose caller has none.
    pub(super) patience: Duration,
}

/// One statement's tries.
struct Tries<'a> {
    single: &'a Single,
    until: Instant,
    left: u32,
    is_read: bool,
}

impl Single {
    fn tries(&self, sql: &str) -> Tries<'_> {
        let is_read = is_read(sql);
        Tries {
            single: self,
            until: deadline::current().unwrap_or_else(|| Instant::now() + self.patience),
            left: if is_read { TRIES } else { 1 },
            is_read,
        }
    }
}

pub(super) fn is_read(sql: &str) -> bool {
    sql.trim_start().starts_with("SELECT")
}

impl Tries<'_> {
    async fn lend(&self) -> Result<Lent, DbErr> {
        self.single.pool.lend(self.until).await
    }

    /// The result for the caller; `None` when the statement is to be run once more.
    fn ended<T>(
        &mut self,
        tried: Result<Result<T, DbErr>, deadline::Passed>,
    ) -> Option<Result<T, DbErr>> {
        let mut result = tried.unwrap_or_else(|_passed| Err(failure::late()));
        self.left -= 1;
        if result.is_ok() && !self.is_read {
            result = self.single.pool.file_is_same().and(result);
        }
        match &result {
            Ok(_) => self.single.watch.read(),
            Err(error) => {
                let is_away = Failure::of(error) == Failure::Trouble(Trouble::Unreachable);
                if is_away && self.left > 0 && Instant::now() < self.until {
                    return None;
                }
                self.single.watch.failed(error, self.is_read);
            }
        }
        Some(result)
    }
}

#[async_trait]
impl ConnectionTrait for Single {
    fn get_database_backend(&self) -> DbBackend {
        match self.pool.driver {
            Driver::MySql(_) => DbBackend::MySql,
            Driver::Sqlite(_) => DbBackend::Sqlite,
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let mut tries = self.tries(&statement.sql);
        loop {
            let work = async { tries.lend().await?.execute(&statement).await };
            let answer = deadline::in_time(tries.until, work).await;
            if let Some(result) = tries.ended(answer) {
                return result;
            }
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let mut tries = self.tries(sql);
        loop {
            let work = async { tries.lend().await?.say(sql).await };
            let answer = deadline::in_time(tries.until, work).await;
            if let Some(result) = tries.ended(answer) {
                return result;
            }
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut tries = self.tries(&statement.sql);
        loop {
            let work = async { tries.lend().await?.query_one(&statement).await };
            let answer = deadline::in_time(tries.until, work).await;
            if let Some(result) = tries.ended(answer) {
                return result;
            }
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut tries = self.tries(&statement.sql);
        loop {
            let work = async { tries.lend().await?.query_all(&statement).await };
            let answer = deadline::in_time(tries.until, work).await;
            if let Some(result) = tries.ended(answer) {
                return result;
            }
        }
    }
}

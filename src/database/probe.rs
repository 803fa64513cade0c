//! Probing the database for `/readyz`, so that trouble is found, and its end noticed, also while no request comes.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend};
use tokio::time::Instant;

use super::failure;
use super::handle::Database;
use super::transaction::Transaction;
use super::trouble::Trouble;
use crate::deadline::{self, in_time, within};
use crate::error::{Error, Result};

/// How long an answer is waited for: a database that is frozen or cut off never answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// The name of a lease that nobody holds; the probe updates it.
const PROBE: &str = "probe:";

impl Database {
    /// What is wrong with the database, as far as a look at it shows; `None` when it serves.
    ///
    /// On `MySQL` it runs an update of no row, which a read-only server refuses. After trouble with writes it inserts
    /// a row and deletes it again, because only a write that was stored ends such trouble.
    pub async fn trouble(&self) -> Option<Trouble> {
        let until = deadline::current().unwrap_or_else(|| Instant::now() + PATIENCE);
        let Ok(_turn) = in_time(until, self.probing.lock()).await else {
            return self.watch.current().or(Some(Trouble::Unreachable));
        };
        let answers = self.watch.answers();
        // The statement itself notes its failure. That no connection is free is no trouble, unless none of
        // the busy ones gets an answer.
        let looked = within(PATIENCE, self.look()).await;
        if looked.is_err() && self.watch.current().is_none() && self.watch.answers() == answers {
            self.watch.failed(&failure::late(), true);
        }
        self.watch.current()
    }

    async fn look(&self) -> Result<()> {
        if self.backend() == DbBackend::Sqlite {
            self.read.execute_unprepared("SELECT 1").await?;
        } else {
            let sql = format!("DELETE FROM lease WHERE name = '{PROBE}'");
            self.write.execute_unprepared(&sql).await?;
        }
        if self.watch.current().is_some() {
            self.transaction(store_and_take_back).await?;
        }
        Ok(())
    }
}

async fn store_and_take_back(tx: &Transaction) -> Result<(), Error> {
    let delete = format!("DELETE FROM lease WHERE name = '{PROBE}'");
    let insert = format!(
        "INSERT INTO lease (name, holder, until, epoch, reserved) VALUES ('{PROBE}', '', 0, 0, 0)"
    );
    tx.execute_unprepared(&insert).await?;
    tx.execute_unprepared(&delete).await?;
    Ok(())
}

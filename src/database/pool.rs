//! The connection pool. It lends each connection under one of a limited number of places, and shrinks that number when the
//! server refuses to give so many.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use log::warn;
use sea_orm::sqlx::{self, MySqlPool, SqlitePool};
use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::failure::{self, is_refused_connection};
use super::health::Health;
use super::lent::{Connection, Lent};
use super::renewal::{Lender, Renewal};
use super::sqlite_file::{Found, SqliteFile};
use crate::deadline::in_time;

/// How long after a refused connection the pool tries to grow again.
const REGROWTH: Duration = Duration::from_secs(10);
/// The pause between two tries while the server gives no connection at all.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// How long after the pool began to shrink its new size is logged, once it is known.
const SETTLED: Duration = Duration::from_secs(1);

/// The driver's pool.
#[derive(Debug, Clone)]
pub enum Driver {
    MySql(MySqlPool),
    Sqlite(SqlitePool),
}

#[derive(Debug)]
pub struct Pool {
    pub driver: Driver,
    pub health: Arc<Health>,
    /// One for each connection that may be lent.
    places: Arc<Semaphore>,
    size: Mutex<Size>,
    file: Option<Arc<SqliteFile>>,
    /// Shared by all pools on the `SQLite` file; set once they exist.
    renewal: OnceLock<Arc<Renewal>>,
    /// How long a place, and then a connection, is waited for.
    patience: Duration,
}

/// How many connections the pool may have.
#[derive(Debug)]
struct Size {
    wanted: u32,
    now: u32,
    changed: Instant,
    /// A task waits to log the new size.
    is_settling: bool,
    told: Option<u32>,
}

/// A connection with its place, or why there is none.
type Acquired =
    Result<(Connection, OwnedSemaphorePermit), (sqlx::Error, Option<OwnedSemaphorePermit>)>;

impl Pool {
    pub fn new(
        driver: Driver,
        health: Arc<Health>,
        file: Option<Arc<SqliteFile>>,
        patience: Duration,
    ) -> Self {
        let wanted = match &driver {
            Driver::MySql(pool) => pool.options().get_max_connections(),
            Driver::Sqlite(pool) => pool.options().get_max_connections(),
        };
        let pool = Self {
            driver,
            health,
            places: Arc::new(Semaphore::new(usize::try_from(wanted).unwrap_or(1))),
            size: Mutex::new(Size {
                wanted,
                now: wanted,
                changed: Instant::now(),
                is_settling: false,
                told: None,
            }),
            file,
            renewal: OnceLock::new(),
            patience,
        };
        pool.show(wanted);
        pool
    }

    /// Lends a connection without an open transaction, waiting until `until`; [`failure::busy`] when none is free in time.
    pub async fn lend(self: &Arc<Self>, until: Instant) -> Result<Lent, DbErr> {
        self.look_at_file()?;
        if let Some(renewal) = self.renewal.get() {
            renewal.if_needed(until).await?;
        }
        self.grow();
        loop {
            let waits_until = until.min(Instant::now() + self.patience);
            let place = in_time(waits_until, Arc::clone(&self.places).acquire_owned()).await;
            let Ok(Ok(place)) = place else {
                return Err(failure::busy());
            };
            let Ok(acquired) = in_time(until, self.acquire(place)).await else {
                return Err(failure::late());
            };
            match acquired {
                Ok((connection, place)) => {
                    return Ok(Lent::new(connection, place, Arc::clone(&self.health)));
                }
                Err((error, Some(place))) if is_refused_connection(&error) => {
                    self.shrink(place, until, error).await?;
                }
                Err((error, _)) => return Err(DbErr::Conn(RuntimeErr::SqlxError(error.into()))),
            }
        }
    }

    /// Fails when the file that was opened is not at its path any more.
    pub fn look_at_file(&self) -> Result<(), DbErr> {
        match self.file.as_ref().map(|file| file.look()) {
            None | Some(Found::Same) => Ok(()),
            Some(found) => {
                self.health.retire();
                if found == Found::Another {
                    return Ok(());
                }
                Err(failure::file_gone())
            }
        }
    }

    /// Fails after a COMMIT when the file was removed or replaced meanwhile, because then nothing was stored.
    pub fn file_is_same(&self) -> Result<(), DbErr> {
        match self.file.as_ref().map(|file| file.look()) {
            None | Some(Found::Same) => Ok(()),
            Some(_) => {
                self.health.retire();
                Err(failure::file_gone())
            }
        }
    }

    /// Lets all pools on one `SQLite` file be closed together, see [`Renewal`].
    pub fn renew_together(pools: &[&Arc<Self>], health: &Arc<Health>) {
        let lenders = pools.iter().filter_map(|pool| pool.lender()).collect();
        let renewal = Arc::new(Renewal::new(Arc::clone(health), lenders));
        for pool in pools {
            // This is the only place that sets it, so it cannot be set already.
            let _ = pool.renewal.set(Arc::clone(&renewal));
        }
    }

    fn lender(&self) -> Option<Lender> {
        let Driver::Sqlite(driver) = &self.driver else {
            return None;
        };
        Some(Lender {
            driver: driver.clone(),
            places: Arc::clone(&self.places),
            size: driver.options().get_max_connections(),
        })
    }

    pub async fn close(&self) {
        match &self.driver {
            Driver::MySql(pool) => pool.close().await,
            Driver::Sqlite(pool) => pool.close().await,
        }
    }

    /// Opens or takes a connection in a task of its own that keeps the place: opening a file on a hanging disk
    /// cannot be cancelled, and the next caller must not begin to open one more.
    async fn acquire(&self, place: OwnedSemaphorePermit) -> Acquired {
        let driver = self.driver.clone();
        let opening = tokio::spawn(async move {
            let connection = match driver {
                Driver::MySql(pool) => pool.acquire().await.map(Connection::MySql),
                Driver::Sqlite(pool) => pool.acquire().await.map(Connection::Sqlite),
            };
            match connection {
                Ok(connection) => Ok((connection, place)),
                Err(error) => Err((error, Some(place))),
            }
        });
        opening
            .await
            .unwrap_or(Err((sqlx::Error::PoolClosed, None)))
    }

    /// Removes this place because the server gives no more connections; its caller then waits for one that is open.
    /// The last place is kept, and its caller tries again.
    async fn shrink(
        self: &Arc<Self>,
        place: OwnedSemaphorePermit,
        until: Instant,
        error: sqlx::Error,
    ) -> Result<(), DbErr> {
        if self.gives_up_one() {
            place.forget();
            return Ok(());
        }
        if Instant::now() + REFUSED_PAUSE > until {
            return Err(DbErr::Conn(RuntimeErr::SqlxError(error.into())));
        }
        sleep(REFUSED_PAUSE).await;
        Ok(())
    }

    fn gives_up_one(self: &Arc<Self>) -> bool {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.changed = Instant::now();
        if !std::mem::replace(&mut size.is_settling, true) {
            tokio::spawn(Arc::clone(self).settle());
        }
        let is_more_than_one = size.now > 1;
        if is_more_than_one {
            size.now -= 1;
            self.show(size.now);
        }
        is_more_than_one
    }

    /// Adds a few places some time after the last change, because the server may give more again.
    fn grow(&self) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if size.now < size.wanted && size.changed.elapsed() > REGROWTH {
            let more = (size.now / 4).max(1).min(size.wanted - size.now);
            size.now += more;
            size.changed = Instant::now();
            self.show(size.now);
            self.places.add_permits(usize::try_from(more).unwrap_or(1));
        }
    }

    /// Logs the pool's new size once it is known, but not the same size twice.
    async fn settle(self: Arc<Self>) {
        sleep(SETTLED).await;
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.is_settling = false;
        let now = size.now;
        if size.told.replace(now) != Some(now) {
            warn!(
                wanted = size.wanted, given = now;
                "the server gives fewer connections than database.max_connections; those that work are shared"
            );
        }
    }

    fn show(&self, size: u32) {
        let limit = &self.health.metrics.database.connection_limit;
        limit.set(i64::from(size));
    }
}

//! Lends connections: one place each, tested when they rested or when there was trouble, never more than the server gives.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::warn;
use sea_orm::sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sea_orm::sqlx::{self, MySqlPool, SqlitePool};
use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant as Moment, sleep, timeout};

use super::failure::{self, is_refused_connection};
use super::lent::{Connection, Lent};
use super::sqlite_file::{Found, SqliteFile};
use crate::deadline::in_time;
use crate::metrics::Metrics;

/// How long a connection that rested may take to answer before another is opened instead.
const TEST: Duration = Duration::from_secs(1);
/// After the server refused a connection: so long until one more is tried.
const REGROWTH: Duration = Duration::from_secs(10);
/// Between two tries while the server gives us none at all.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// Until a shrunk pool is told: by then its size is known.
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
    /// How long a place, and then a connection, is waited for.
    patience: Duration,
}

/// How many connections the pool may have.
#[derive(Debug)]
struct Size {
    wanted: u32,
    now: u32,
    changed: Moment,
    /// Somebody waits to tell it.
    is_settling: bool,
    told: Option<u32>,
}

/// A connection with its place, or why there is none.
type Acquired =
    Result<(Connection, OwnedSemaphorePermit), (sqlx::Error, Option<OwnedSemaphorePermit>)>;

/// Which connections may not be trusted.
#[derive(Debug)]
pub struct Health {
    /// Opened before: closed. Used last before: tested.
    since: Mutex<Since>,
    /// Tested after such a rest.
    test_after: Duration,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    retired: Instant,
    suspected: Instant,
}

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
                changed: Moment::now(),
                is_settling: false,
                told: None,
            }),
            file,
            patience,
        };
        pool.show(wanted);
        pool
    }

    /// A connection that nothing is open on, until `until`; with none free, [`failure::busy`].
    pub async fn lend(self: &Arc<Self>, until: Moment) -> Result<Lent, DbErr> {
        self.look_at_file()?;
        self.grow();
        loop {
            let waits_until = until.min(Moment::now() + self.patience);
            let place = in_time(waits_until, Arc::clone(&self.places).acquire_owned()).await;
            let Ok(Ok(place)) = place else {
                return Err(failure::busy());
            };
            let Ok(acquired) = in_time(until, self.acquire(place)).await else {
                return Err(failure::late());
            };
            match acquired {
                Ok((connection, place)) => return Ok(Lent::new(connection, place, self)),
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
                self.drain();
                if found == Found::Another {
                    return Ok(());
                }
                Err(failure::file_gone())
            }
        }
    }

    /// As [`Self::look_at_file`], after a COMMIT: into a file that was replaced meanwhile nothing was stored.
    pub fn file_is_same(&self) -> Result<(), DbErr> {
        match self.file.as_ref().map(|file| file.look()) {
            None | Some(Found::Same) => Ok(()),
            Some(_) => {
                self.health.retire();
                Err(failure::file_gone())
            }
        }
    }

    pub async fn close(&self) {
        match &self.driver {
            Driver::MySql(pool) => pool.close().await,
            Driver::Sqlite(pool) => pool.close().await,
        }
    }

    /// In a task of its own, with the place: opening a file on a disk that hangs cannot be given
    /// up, and who waits next must not open one more.
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

    /// Closes what rests: a file that comes back is not to meet connections to what was there before.
    fn drain(&self) {
        match &self.driver {
            Driver::MySql(pool) => {
                while let Some(connection) = pool.try_acquire() {
                    drop(connection.detach());
                }
            }
            Driver::Sqlite(pool) => {
                while let Some(connection) = pool.try_acquire() {
                    drop(connection.detach());
                }
            }
        }
    }

    /// The server gives no more: from now on this place is gone, and who had it waits for one of ours. Who has the
    /// last place keeps it and tries again.
    async fn shrink(
        self: &Arc<Self>,
        place: OwnedSemaphorePermit,
        until: Moment,
        error: sqlx::Error,
    ) -> Result<(), DbErr> {
        if self.gives_up_one() {
            place.forget();
            return Ok(());
        }
        if Moment::now() + REFUSED_PAUSE > until {
            return Err(DbErr::Conn(RuntimeErr::SqlxError(error.into())));
        }
        sleep(REFUSED_PAUSE).await;
        Ok(())
    }

    fn gives_up_one(self: &Arc<Self>) -> bool {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.changed = Moment::now();
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

    /// A few more places, some time after the last change: the server may give more again.
    fn grow(&self) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if size.now < size.wanted && size.changed.elapsed() > REGROWTH {
            let more = (size.now / 4).max(1).min(size.wanted - size.now);
            size.now += more;
            size.changed = Moment::now();
            self.show(size.now);
            self.places.add_permits(usize::try_from(more).unwrap_or(1));
        }
    }

    /// Tells how many there are once that is known, and not the same number twice.
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

impl Health {
    pub fn new(test_after: Duration, metrics: Arc<Metrics>) -> Self {
        let now = Instant::now();
        Self {
            since: Mutex::new(Since {
                retired: now,
                suspected: now,
            }),
            test_after,
            metrics,
        }
    }

    /// No connection that is open now is lent again: its server, or its file, is not what is wanted.
    pub fn retire(&self) {
        self.change(|since| since.retired = Instant::now());
    }

    /// Each connection that is open now is tested before it is lent again: one of them was dead.
    pub fn suspect(&self) {
        self.change(|since| since.suspected = Instant::now());
    }

    pub fn closed(&self, reason: &str) {
        self.metrics.database.closed(reason);
    }

    /// The driver asks this before it lends a connection.
    pub fn watch<DB: sqlx::Database>(
        self: &Arc<Self>,
        options: PoolOptions<DB>,
    ) -> PoolOptions<DB> {
        let health = Arc::clone(self);
        options
            .test_before_acquire(false)
            .before_acquire(move |connection, about| {
                let health = Arc::clone(&health);
                Box::pin(async move { Ok(health.may_be_lent::<DB>(connection, about).await) })
            })
    }

    async fn may_be_lent<DB: sqlx::Database>(
        &self,
        connection: &mut DB::Connection,
        about: PoolConnectionMetadata,
    ) -> bool {
        use sqlx::Connection;
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let before = |age: Duration, moment: Instant| now.duration_since(moment) < age;
        if before(about.age, since.retired) {
            self.closed("retired");
            return false;
        }
        if about.idle_for < self.test_after && !before(about.idle_for, since.suspected) {
            return true;
        }
        let is_well = matches!(timeout(TEST, connection.ping()).await, Ok(Ok(())));
        if !is_well {
            self.suspect();
            self.closed("dead");
        }
        is_well
    }

    fn change(&self, how: impl FnOnce(&mut Since)) {
        how(&mut self.since.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

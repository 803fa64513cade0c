//! `lease`: taken and renewed by conditional update, timed by the database's clock.

use std::time::Duration;

use entity::lease::{Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait, Query, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, QueryFilter};

use crate::database::Failure;

/// No lease is longer: an hour, in milliseconds; settings keep to it.
const LONGEST_MS: i64 = 3_600_000;

/// A lease as its holder wants it.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    pub name: &'a str,
    pub holder: &'a str,
    pub length: Duration,
    /// See `entity::lease::Model::reserved`; never lowered.
    pub reserved: i64,
}

/// All leases whose name begins with `prefix`, and whether each still runs.
pub async fn with_prefix(
    db: &impl ConnectionTrait,
    prefix: &str,
) -> Result<Vec<(Model, bool)>, DbErr> {
    use sea_orm::QuerySelect;
    Entity::find()
        .filter(Column::Name.starts_with(prefix))
        .select_only()
        .columns([
            Column::Name,
            Column::Holder,
            Column::Until,
            Column::Epoch,
            Column::Reserved,
        ])
        .expr_as(is_running(db), "running")
        .into_model::<WithRunning>()
        .all(db)
        .await
        .map(|rows| rows.into_iter().map(WithRunning::split).collect())
}

/// Makes the lease; false when there is one of that name.
pub async fn insert(db: &impl ConnectionTrait, claim: &Claim<'_>) -> Result<bool, DbErr> {
    let columns = [
        Column::Name,
        Column::Holder,
        Column::Until,
        Column::Epoch,
        Column::Reserved,
    ];
    let mut row = Query::insert();
    row.into_table(Entity).columns(columns).values_panic([
        Expr::value(claim.name),
        Expr::value(claim.holder),
        until(db, claim.length),
        Expr::value(1),
        Expr::value(claim.reserved),
    ]);
    match db.execute(&row).await {
        Ok(_) => Ok(true),
        Err(error) if matches!(Failure::of(&error), Failure::Duplicate(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Takes a lease that nobody holds any more, or makes it; false while another holds it.
pub async fn take(db: &impl ConnectionTrait, claim: &Claim<'_>) -> Result<bool, DbErr> {
    if insert(db, claim).await? {
        return Ok(true);
    }
    let result = Entity::update_many()
        .col_expr(Column::Holder, Expr::value(claim.holder))
        .col_expr(Column::Epoch, Expr::col(Column::Epoch).add(1))
        .col_expr(Column::Until, until(db, claim.length))
        .filter(Column::Name.eq(claim.name))
        .filter(is_running(db).not())
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Gives a lease back: it is gone.
pub async fn delete(db: &impl ConnectionTrait, name: &str, holder: &str) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::Name.eq(name))
        .filter(Column::Holder.eq(holder))
        .exec(db)
        .await?;
    Ok(())
}

/// Gives a lease back and keeps its row, which says how far it was used.
pub async fn end(db: &impl ConnectionTrait, name: &str, holder: &str) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Until, Expr::value(0))
        .filter(Column::Name.eq(name))
        .filter(Column::Holder.eq(holder))
        .exec(db)
        .await?;
    Ok(())
}

/// Takes over a lease that has run out since `seen` was read; false when somebody was faster.
pub async fn take_over(
    db: &impl ConnectionTrait,
    seen: &Model,
    claim: &Claim<'_>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Holder, Expr::value(claim.holder))
        .col_expr(Column::Epoch, Expr::col(Column::Epoch).add(1))
        .col_expr(Column::Until, until(db, claim.length))
        .col_expr(Column::Reserved, Expr::value(claim.reserved))
        .filter(Column::Name.eq(claim.name))
        .filter(Column::Epoch.eq(seen.epoch))
        .filter(is_running(db).not())
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Renews; false when the lease has passed to another.
pub async fn renew(db: &impl ConnectionTrait, claim: &Claim<'_>) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Until, until(db, claim.length))
        .col_expr(Column::Reserved, Expr::value(claim.reserved))
        .filter(Column::Name.eq(claim.name))
        .filter(Column::Holder.eq(claim.holder))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Gives back all of an instance's leases of this kind.
pub async fn delete_all(
    db: &impl ConnectionTrait,
    prefix: &str,
    holder: &str,
) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::Name.starts_with(prefix))
        .filter(Column::Holder.eq(holder))
        .exec(db)
        .await?;
    Ok(())
}

/// Removes leases of this kind that ran out and that nobody took up again.
pub async fn delete_expired(db: &impl ConnectionTrait, prefix: &str) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::Name.starts_with(prefix))
        .filter(is_running(db).not())
        .exec(db)
        .await?;
    Ok(())
}

/// Whether a lease holds: its end lies ahead, but not further than any lease is long. That one was written while the
/// clock was ahead, and its holder would have renewed it since.
pub fn is_running(db: &impl ConnectionTrait) -> SimpleExpr {
    let until = || Expr::col((Entity, Column::Until));
    until()
        .gt(now(db))
        .and(until().lte(now(db).add(LONGEST_MS)))
}

/// The database's clock in Unix milliseconds.
fn now(db: &impl ConnectionTrait) -> SimpleExpr {
    Expr::cust(match db.get_database_backend() {
        DbBackend::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        _ => "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
    })
}

fn until(db: &impl ConnectionTrait, length: Duration) -> SimpleExpr {
    now(db).add(i64::try_from(length.as_millis()).unwrap_or(i64::MAX / 2))
}

#[derive(sea_orm::FromQueryResult)]
struct WithRunning {
    name: String,
    holder: String,
    until: i64,
    epoch: i64,
    reserved: i64,
    running: bool,
}

impl WithRunning {
    fn split(self) -> (Model, bool) {
        let Self {
            name,
            holder,
            until,
            epoch,
            reserved,
            running,
        } = self;
        (
            Model {
                name,
                holder,
                until,
                epoch,
                reserved,
            },
            running,
        )
    }
}

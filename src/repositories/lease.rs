//! `lease`: taken and renewed by conditional update, timed by the database's clock.

use std::time::Duration;

use entity::lease::{ActiveModel, Column, Entity, Model};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, QueryFilter};

use crate::database::Failure;

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
        .expr_as(Expr::col(Column::Until).gt(now(db)), "running")
        .into_model::<WithRunning>()
        .all(db)
        .await
        .map(|rows| rows.into_iter().map(WithRunning::split).collect())
}

/// Makes the lease; false when there is one of that name.
pub async fn insert(db: &impl ConnectionTrait, claim: &Claim<'_>) -> Result<bool, DbErr> {
    let row = ActiveModel {
        name: Set(claim.name.to_owned()),
        holder: Set(claim.holder.to_owned()),
        until: Set(0),
        epoch: Set(1),
        reserved: Set(claim.reserved),
    };
    match Entity::insert(row).exec_without_returning(db).await {
        Ok(_) => renew(db, claim).await,
        Err(error) if matches!(Failure::of(&error), Failure::Duplicate(_)) => Ok(false),
        Err(error) => Err(error),
    }
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
        .filter(Expr::col(Column::Until).lte(now(db)))
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

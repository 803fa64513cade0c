//! `message_failure`: what is tried again, and what is dead.

use chrono::{DateTime, Utc};
use entity::message_failure::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, UpdateMany,
};

use super::due::is_due;
use super::rows;
use crate::database::Transaction;

/// Inserts; a violation of `uk_message_failure` means that it is tried again already.
pub async fn insert(tx: &Transaction, failure: Model) -> Result<(), DbErr> {
    let row = rows::without_id::<ActiveModel, _>(failure);
    row.exec_without_returning(tx).await.map(|_| ())
}

pub async fn find(db: &impl ConnectionTrait, id: i64) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// Up to `limit` failures that are to be tried again by now, the longest waiting first.
pub async fn due(
    db: &impl ConnectionTrait,
    now: DateTime<Utc>,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::DeadAt.is_null())
        .filter(is_due(Column::NextAttemptAt, now))
        .order_by_asc(Column::NextAttemptAt)
        .limit(limit)
        .all(db)
        .await
}

/// Up to `limit` failures behind the id `after`, the oldest first: the dead, the others, or all.
pub async fn list(
    db: &impl ConnectionTrait,
    is_dead: Option<bool>,
    after: i64,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let mut query = Entity::find().filter(Column::Id.gt(after));
    query = match is_dead {
        Some(true) => query.filter(Column::DeadAt.is_not_null()),
        Some(false) => query.filter(Column::DeadAt.is_null()),
        None => query,
    };
    query.order_by_asc(Column::Id).limit(limit).all(db).await
}

/// How many are tried again, and how many are dead.
pub async fn count(db: &impl ConnectionTrait) -> Result<(u64, u64), DbErr> {
    let dead = Entity::find().filter(Column::DeadAt.is_not_null());
    let waiting = Entity::find().filter(Column::DeadAt.is_null());
    Ok((waiting.count(db).await?, dead.count(db).await?))
}

/// Takes it up until `next`, should its taker crash; false when another did.
pub async fn claim(
    db: &impl ConnectionTrait,
    seen: &Model,
    next: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::NextAttemptAt, Expr::value(next))
        .filter(Column::NextAttemptAt.eq(seen.next_attempt_at))
        .filter(Column::DeadAt.is_null());
    changed(db, update, seen).await
}

/// Writes what came of another attempt; false when it is not as it was seen.
pub async fn note(tx: &Transaction, seen: &Model, now: &Model) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Attempts, Expr::value(now.attempts))
        .col_expr(Column::NextAttemptAt, Expr::value(now.next_attempt_at))
        .col_expr(Column::LastError, Expr::value(now.last_error.as_str()))
        .col_expr(Column::DeadAt, Expr::value(now.dead_at))
        .col_expr(Column::UpdatedAt, Expr::value(now.updated_at));
    changed(tx, update, seen).await
}

/// Lets it be tried again from the beginning; false when it is on the list no more.
pub async fn revive(db: &impl ConnectionTrait, id: i64, now: DateTime<Utc>) -> Result<bool, DbErr> {
    let revived = revived(now).filter(Column::Id.eq(id)).exec(db).await?;
    Ok(revived.rows_affected == 1)
}

/// The same for all that are dead; returns how many.
pub async fn revive_all(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let dead = revived(now).filter(Column::DeadAt.is_not_null());
    Ok(dead.exec(db).await?.rows_affected)
}

/// It worked: the row is gone.
pub async fn delete(db: &impl ConnectionTrait, id: i64) -> Result<(), DbErr> {
    Entity::delete_by_id(id).exec(db).await?;
    Ok(())
}

fn revived(now: DateTime<Utc>) -> UpdateMany<Entity> {
    Entity::update_many()
        .col_expr(Column::Attempts, Expr::value(0))
        .col_expr(Column::NextAttemptAt, Expr::value(now))
        .col_expr(Column::DeadAt, Expr::value(None::<DateTime<Utc>>))
        .col_expr(Column::UpdatedAt, Expr::value(now))
}

async fn changed(
    db: &impl ConnectionTrait,
    update: UpdateMany<Entity>,
    seen: &Model,
) -> Result<bool, DbErr> {
    let result = update
        .filter(Column::Id.eq(seen.id))
        .filter(Column::Attempts.eq(seen.attempts))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

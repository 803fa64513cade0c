//! `archive_file` and `archive_directory`: what left the tables, and where it is.

use chrono::{DateTime, Utc};
use entity::archive_directory as directory;
use entity::archive_file::{ActiveModel, Column, Entity, Model, State};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};

use super::rows;
use crate::database::Transaction;

/// The one row of `archive_directory`.
const ONLY: i64 = 1;

/// Inserts and returns the row with its id; a violation of `uk_archive_file_open` means that another is open.
pub async fn insert(db: &impl ConnectionTrait, file: Model) -> Result<Model, DbErr> {
    let id = rows::insert::<ActiveModel, _>(db, file.clone()).await?;
    Ok(Model { id, ..file })
}

/// The file that a run has to finish first.
pub async fn first_open(db: &impl ConnectionTrait) -> Result<Option<Model>, DbErr> {
    Entity::find().filter(Column::OpenSlot.eq(0)).one(db).await
}

/// All rows, the oldest first; of some states if any are named.
pub async fn list(db: &impl ConnectionTrait, states: &[State]) -> Result<Vec<Model>, DbErr> {
    let mut query = Entity::find();
    if !states.is_empty() {
        query = query.filter(Column::State.is_in(states.iter().copied()));
    }
    query.order_by_asc(Column::Id).all(db).await
}

/// Moves an open file on, which stays open; false when it is not in the state `from` any more.
pub async fn advance(
    db: &impl ConnectionTrait,
    id: i64,
    (from, to): (State, State),
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::State, Expr::value(to))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(from))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Moves a file on to its end; false when it is not in the state `from` any more.
pub async fn close(
    db: &impl ConnectionTrait,
    id: i64,
    (from, to): (State, State),
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::State, Expr::value(to))
        .col_expr(Column::OpenSlot, Expr::col(Column::Id))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(from))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// WRITING → VERIFIED with what `file` says of its contents; false when somebody dropped it.
pub async fn verified(db: &impl ConnectionTrait, file: &Model) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Rows, Expr::value(file.rows))
        .col_expr(Column::FirstKey, Expr::value(file.first_key.as_str()))
        .col_expr(Column::LastKey, Expr::value(file.last_key.as_str()))
        .col_expr(Column::NewestAt, Expr::value(file.newest_at))
        .col_expr(Column::Sha256, Expr::value(file.sha256.as_str()))
        .col_expr(Column::State, Expr::value(State::Verified))
        .col_expr(Column::UpdatedAt, Expr::value(file.updated_at))
        .filter(Column::Id.eq(file.id))
        .filter(Column::State.eq(State::Writing))
        .exec(db)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Counts rows that were purged in the same transaction.
pub async fn count_purged(tx: &Transaction, slice: &Model) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Rows, Expr::col(Column::Rows).add(slice.rows))
        .col_expr(Column::LastKey, Expr::value(slice.last_key.as_str()))
        .col_expr(Column::NewestAt, Expr::value(slice.newest_at))
        .col_expr(Column::UpdatedAt, Expr::value(slice.updated_at))
        .filter(Column::Id.eq(slice.id))
        .exec(tx)
        .await?;
    Ok(())
}

/// The row of a file that is gone goes too.
pub async fn delete(db: &impl ConnectionTrait, id: i64) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(State::Dropped))
        .exec(db)
        .await?;
    Ok(())
}

/// The id in the marker file of the archive's directory, once there is one.
pub async fn marker(db: &impl ConnectionTrait) -> Result<Option<String>, DbErr> {
    let found = directory::Entity::find_by_id(ONLY).one(db).await?;
    Ok(found.map(|directory| directory.marker))
}

/// Keeps the marker's id; a violation of `pk_archive_directory` means that there is one.
pub async fn set_marker(
    db: &impl ConnectionTrait,
    marker: &str,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    let row = directory::ActiveModel {
        id: Set(ONLY),
        marker: Set(marker.to_owned()),
        created_at: Set(now),
    };
    directory::Entity::insert(row)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

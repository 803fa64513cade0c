//! `points_account` and `points_ledger`: the balance and its movements, changed together.

use chrono::{DateTime, Utc};
use entity::{UserId, points_account, points_ledger};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::rows;
use crate::database::Transaction;

/// Inserts a movement and moves the balance; a violation of `uk_points_ledger` means that the
/// fact moved it before.
pub async fn move_by(tx: &Transaction, movement: points_ledger::Model) -> Result<(), DbErr> {
    let account = points_account::ActiveModel {
        user_id: Set(movement.user_id.clone()),
        balance: Set(movement.change),
        updated_at: Set(movement.created_at),
    };
    let (change, now) = (movement.change, movement.created_at);
    rows::without_id::<points_ledger::ActiveModel, _>(movement)
        .exec_without_returning(tx)
        .await?;
    points_account::Entity::insert(account)
        .on_conflict(add(change, now))
        .exec_without_returning(tx)
        .await?;
    Ok(())
}

/// The customer's balance; 0 when there was no movement yet.
pub async fn balance(db: &impl ConnectionTrait, user: &UserId) -> Result<i64, DbErr> {
    let account = points_account::Entity::find_by_id(user.clone()).one(db);
    Ok(account.await?.map_or(0, |account| account.balance))
}

/// Up to `limit` of the customer's movements before the id `before`, newest first.
pub async fn movements(
    db: &impl ConnectionTrait,
    user: &UserId,
    before: i64,
    limit: u64,
) -> Result<Vec<points_ledger::Model>, DbErr> {
    points_ledger::Entity::find()
        .filter(points_ledger::Column::UserId.eq(user.clone()))
        .filter(points_ledger::Column::Id.lt(before))
        .order_by_desc(points_ledger::Column::Id)
        .limit(limit)
        .all(db)
        .await
}

fn add(change: i64, now: DateTime<Utc>) -> OnConflict {
    let column = (points_account::Entity, points_account::Column::Balance);
    OnConflict::column(points_account::Column::UserId)
        .value(
            points_account::Column::Balance,
            Expr::col(column).add(change),
        )
        .value(points_account::Column::UpdatedAt, Expr::value(now))
        .to_owned()
}

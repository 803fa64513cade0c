//! `stock`: changed only by conditional update; the number of rows decides.

use chrono::{DateTime, Utc};
use entity::ProductId;
use entity::stock::{ActiveModel, Column, Entity, Model};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect, UpdateMany,
};

use crate::database::Transaction;

pub async fn find(db: &impl ConnectionTrait, product: ProductId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(product).one(db).await
}

/// The stock with its row locked until the transaction ends.
pub async fn lock(tx: &Transaction, product: ProductId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(product).lock_exclusive().one(tx).await
}

pub async fn insert(tx: &Transaction, stock: Model) -> Result<(), DbErr> {
    let row = ActiveModel {
        product_id: Set(stock.product_id),
        quantity: Set(stock.quantity),
        version: Set(stock.version),
        updated_at: Set(stock.updated_at),
    };
    Entity::insert(row).exec_without_returning(tx).await?;
    Ok(())
}

/// Takes `pieces` if there are enough and nobody changed the stock since `version` was read.
pub async fn take_unchanged(
    tx: &Transaction,
    product: ProductId,
    pieces: i64,
    version: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    changed(
        tx,
        taking(product, pieces, now).filter(Column::Version.eq(version)),
    )
    .await
}

/// Takes `pieces` if there are enough.
pub async fn take(
    tx: &Transaction,
    product: ProductId,
    pieces: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    changed(tx, taking(product, pieces, now)).await
}

/// Gives `pieces` back, whatever is there and whether or not the product is on sale.
pub async fn give_back(
    tx: &Transaction,
    product: ProductId,
    pieces: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    changed(tx, adding(product, pieces, now)).await
}

/// Sets the quantity under the version that was read; false when the version has moved on.
pub async fn set_quantity(
    tx: &Transaction,
    product: ProductId,
    quantity: i64,
    version: i64,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Quantity, Expr::value(quantity))
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::ProductId.eq(product))
        .filter(Column::Version.eq(version));
    changed(tx, update).await
}

fn taking(product: ProductId, pieces: i64, now: DateTime<Utc>) -> UpdateMany<Entity> {
    adding(product, -pieces, now).filter(Column::Quantity.gte(pieces))
}

fn adding(product: ProductId, pieces: i64, now: DateTime<Utc>) -> UpdateMany<Entity> {
    Entity::update_many()
        .col_expr(Column::Quantity, Expr::col(Column::Quantity).add(pieces))
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::ProductId.eq(product))
}

async fn changed(tx: &Transaction, update: UpdateMany<Entity>) -> Result<bool, DbErr> {
    Ok(update.exec(tx).await?.rows_affected == 1)
}

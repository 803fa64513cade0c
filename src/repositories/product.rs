//! `product`: what is for sale, read together with its stock.

use chrono::{DateTime, Utc};
use entity::product::{ActiveModel, Column, Entity, Model};
use entity::{ProductId, stock};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect,
};

use crate::database::Transaction;

/// A product and its stock.
pub type WithStock = (Model, Option<stock::Model>);

/// What an operator may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub name: String,
    pub price: i64,
    pub currency: String,
    pub on_sale: bool,
}

/// The whole catalogue by id.
pub async fn list(db: &impl ConnectionTrait) -> Result<Vec<WithStock>, DbErr> {
    Entity::find()
        .find_also_related(stock::Entity)
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

/// These products by id, in one read.
pub async fn of_ids(db: &impl ConnectionTrait, ids: &[ProductId]) -> Result<Vec<WithStock>, DbErr> {
    Entity::find()
        .filter(Column::Id.is_in(ids.iter().copied()))
        .find_also_related(stock::Entity)
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

pub async fn count(db: &impl ConnectionTrait) -> Result<u64, DbErr> {
    Entity::find().count(db).await
}

/// The product with its row locked until the transaction ends.
pub async fn lock(tx: &Transaction, id: ProductId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).lock_exclusive().one(tx).await
}

/// Inserts; a violation of `uk_product_sku` means that the sku is taken.
pub async fn insert(
    tx: &Transaction,
    sku: &str,
    offer: Offer,
    now: DateTime<Utc>,
) -> Result<ProductId, DbErr> {
    let row = ActiveModel {
        id: NotSet,
        sku: Set(sku.to_owned()),
        name: Set(offer.name),
        price: Set(offer.price),
        currency: Set(offer.currency),
        on_sale: Set(offer.on_sale),
        version: Set(1),
        created_at: Set(now),
        updated_at: Set(now),
    };
    Ok(Entity::insert(row).exec(tx).await?.last_insert_id)
}

/// Writes the offer under the version that was read; false when the version has moved on.
pub async fn set_offer(
    tx: &Transaction,
    id: ProductId,
    version: i64,
    offer: Offer,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Name, Expr::value(offer.name))
        .col_expr(Column::Price, Expr::value(offer.price))
        .col_expr(Column::Currency, Expr::value(offer.currency))
        .col_expr(Column::OnSale, Expr::value(offer.on_sale))
        .col_expr(Column::Version, Expr::col(Column::Version).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::Version.eq(version))
        .exec(tx)
        .await?;
    Ok(result.rows_affected == 1)
}

//! `order_item`: what was bought, and the slots that make "one valid order" exact.

use entity::order::OrderType;
use entity::order_item::{ActiveModel, Column, Entity, Model};
use entity::{OrderId, ProductId, UserId};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use crate::database::Transaction;

/// Inserts in one statement; a violation of `uk_user_product` means that another order counts.
pub async fn insert(tx: &Transaction, items: &[Model]) -> Result<(), DbErr> {
    let rows = items.iter().cloned().map(|item| ActiveModel {
        id: NotSet,
        order_id: Set(item.order_id),
        user_id: Set(item.user_id),
        product_id: Set(item.product_id),
        order_type: Set(item.order_type),
        active_slot: Set(item.active_slot),
        quantity: Set(item.quantity),
        price: Set(item.price),
        sku: Set(item.sku),
        name: Set(item.name),
    });
    Entity::insert_many(rows).exec_without_returning(tx).await?;
    Ok(())
}

/// The items of several orders, each order's by product.
pub async fn of_orders(db: &impl ConnectionTrait, orders: &[OrderId]) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.is_in(orders.iter().copied()))
        .order_by_asc(Column::OrderId)
        .order_by_asc(Column::ProductId)
        .all(db)
        .await
}

/// Frees or keeps the slots of an order: all its items get `slot`.
pub async fn set_slot(tx: &Transaction, order: OrderId, slot: i64) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::ActiveSlot, Expr::value(slot))
        .filter(Column::OrderId.eq(order))
        .exec(tx)
        .await?;
    Ok(())
}

/// The order that holds the customer's slot for one of `products`.
pub async fn slot_holder(
    db: &impl ConnectionTrait,
    user: &UserId,
    order_type: OrderType,
    products: &[ProductId],
) -> Result<Option<OrderId>, DbErr> {
    Entity::find()
        .select_only()
        .column(Column::OrderId)
        .filter(Column::UserId.eq(user.clone()))
        .filter(Column::ProductId.is_in(products.iter().copied()))
        .filter(Column::OrderType.eq(order_type))
        .filter(Column::ActiveSlot.eq(0))
        .order_by_asc(Column::ProductId)
        .into_tuple()
        .one(db)
        .await
}

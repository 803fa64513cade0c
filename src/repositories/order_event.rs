//! `order_event`: the timeline and the outbox.

use entity::OrderId;
use entity::order_event::{ActiveModel, Column, Entity, Model};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, QueryFilter, QueryOrder,
};

/// Inserts; the caller holds the order's lock and gives the next `seq`.
pub async fn insert(tx: &DatabaseTransaction, event: Model) -> Result<(), DbErr> {
    let row = ActiveModel {
        id: NotSet,
        order_id: Set(event.order_id),
        seq: Set(event.seq),
        kind: Set(event.kind),
        from_status: Set(event.from_status),
        to_status: Set(event.to_status),
        actor: Set(event.actor),
        payload: Set(event.payload),
        created_at: Set(event.created_at),
        published_at: Set(event.published_at),
    };
    Entity::insert(row).exec_without_returning(tx).await?;
    Ok(())
}

/// All events of an order in their order.
pub async fn of_order(db: &impl ConnectionTrait, order: OrderId) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.eq(order))
        .order_by_asc(Column::Seq)
        .all(db)
        .await
}

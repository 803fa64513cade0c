//! `idempotency_record`: inserted first, in the transaction that does the work.

use chrono::{DateTime, Utc};
use entity::idempotency_record::{Column, Entity, Model};
use entity::{order, order_item};
use sea_orm::sea_query::{Expr, Query, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, QueryFilter, QueryOrder,
};

use crate::database::Transaction;

/// A record and the order that its work made, if both are there.
pub type Found = (Model, Option<(order::Model, Vec<order_item::Model>)>);

/// Inserts; waits for a transaction that is inserting the same id. A violation of
/// `pk_idempotency_record` means that the work was done.
pub async fn insert(tx: &Transaction, record: Model) -> Result<(), DbErr> {
    let columns = [
        Column::Id,
        Column::Fingerprint,
        Column::ResourceId,
        Column::StatusCode,
        Column::CreatedAt,
        Column::ExpiresAt,
    ];
    let mut row = Query::insert();
    row.into_table(Entity).columns(columns).values_panic([
        Expr::value(record.id),
        Expr::value(record.fingerprint),
        Expr::value(record.resource_id),
        Expr::value(record.status_code),
        Expr::value(record.created_at),
        beyond_2038(tx, record.expires_at),
    ]);
    tx.execute(&row).await?;
    Ok(())
}

/// To `MySQL` a time with a zone is sent as a TIMESTAMP, whose last is in 2038.
fn beyond_2038(tx: &Transaction, time: DateTime<Utc>) -> SimpleExpr {
    match tx.get_database_backend() {
        DbBackend::MySql => Expr::value(time.naive_utc()),
        _ => Expr::value(time),
    }
}

/// The record with its order and items as they are now, in one read.
pub async fn find_with_order(db: &impl ConnectionTrait, id: &[u8]) -> Result<Option<Found>, DbErr> {
    let rows = Entity::find()
        .filter(Column::Id.eq(id.to_vec()))
        .find_also_related(order::Entity)
        .find_also_related(order_item::Entity)
        .order_by_asc(order_item::Column::ProductId)
        .all(db)
        .await?;
    let mut found: Option<Found> = None;
    for (record, order, item) in rows {
        let (_, order) = found.get_or_insert((record, order.map(|order| (order, Vec::new()))));
        if let (Some((_, items)), Some(item)) = (order, item) {
            items.push(item);
        }
    }
    Ok(found)
}

/// The record alone.
pub async fn find(db: &impl ConnectionTrait, id: &[u8]) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id.to_vec()).one(db).await
}

/// Says what the work made, where that was not known before.
pub async fn set_resource(tx: &Transaction, id: &[u8], resource_id: i64) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::ResourceId, Expr::value(resource_id))
        .filter(Column::Id.eq(id.to_vec()))
        .exec(tx)
        .await?;
    Ok(())
}

//! `order_event`: the timeline and the outbox.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use entity::order_event::{ActiveModel, Column, Entity, Model};
use entity::{OrderId, lease, message_consume_log, message_failure};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::lease::is_running;
use crate::database::Transaction;
use crate::domain::events::Consumer;

/// Inserts; the caller holds the order's lock and gives the next `seq`.
pub async fn insert(tx: &Transaction, event: Model) -> Result<(), DbErr> {
    let row = ActiveModel {
        id: NotSet,
        order_id: Set(event.order_id),
        seq: Set(event.seq),
        kind: Set(event.kind),
        subject: Set(event.subject),
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

/// Begins the names of the leases by which relays hold orders' events.
pub const CLAIM: &str = "relay:";

/// The name of the lease by which a relay holds an order's events.
pub fn claim_name(order: OrderId) -> String {
    format!("{CLAIM}{order}")
}

/// Up to `limit` orders with events that were not handed over and that no relay holds, the oldest
/// order first.
pub async fn waiting_orders(db: &impl ConnectionTrait, limit: u64) -> Result<Vec<OrderId>, DbErr> {
    let held = Query::select()
        .expr(Expr::val(1))
        .from(lease::Entity)
        .and_where(
            Expr::col(lease::Column::Name).eq(Expr::cust("'relay:' || order_event.order_id")),
        )
        .and_where(is_running(db))
        .to_owned();
    Entity::find()
        .select_only()
        .column(Column::OrderId)
        .distinct()
        .filter(Column::PublishedAt.is_null())
        .filter(Expr::not_exists(held))
        .order_by_asc(Column::OrderId)
        .limit(limit)
        .into_tuple()
        .all(db)
        .await
}

/// What of an order was not handed over, by `seq`.
pub async fn waiting(
    db: &impl ConnectionTrait,
    order: OrderId,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.eq(order))
        .filter(Column::PublishedAt.is_null())
        .order_by_asc(Column::Seq)
        .limit(limit)
        .all(db)
        .await
}

pub async fn find(db: &impl ConnectionTrait, id: i64) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// Up to `limit` events that were handed over between two moments and on which the consumer neither
/// acted nor failed.
pub async fn unconsumed(
    db: &impl ConnectionTrait,
    consumer: Consumer,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::PublishedAt.gte(from))
        .filter(Column::PublishedAt.lt(to))
        .filter(Column::Kind.is_in(consumer.interests().iter().copied()))
        .filter(Expr::not_exists(log_of(consumer.name())))
        .filter(Expr::not_exists(failure_of(consumer.name())))
        .order_by_asc(Column::PublishedAt)
        .limit(limit)
        .all(db)
        .await
}

/// The types of these events, as far as they are there.
pub async fn kinds(
    db: &impl ConnectionTrait,
    ids: impl IntoIterator<Item = i64>,
) -> Result<HashMap<i64, String>, DbErr> {
    let kinds: Vec<(i64, String)> = Entity::find()
        .select_only()
        .columns([Column::Id, Column::Kind])
        .filter(Column::Id.is_in(ids))
        .into_tuple()
        .all(db)
        .await?;
    Ok(kinds.into_iter().collect())
}

/// Notes that it was handed over; the first time counts.
pub async fn mark_published(
    db: &impl ConnectionTrait,
    id: i64,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::PublishedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::PublishedAt.is_null())
        .exec(db)
        .await?;
    Ok(())
}

/// How many events were not handed over, and since when the oldest waits.
pub async fn backlog(db: &impl ConnectionTrait) -> Result<(i64, Option<DateTime<Utc>>), DbErr> {
    let found = Entity::find()
        .select_only()
        .expr(Expr::col(Column::Id).count())
        .expr(Expr::col(Column::CreatedAt).min())
        .filter(Column::PublishedAt.is_null())
        .into_tuple()
        .one(db)
        .await?;
    Ok(found.unwrap_or_default())
}

/// That a consumer acted on the fact of the event.
fn log_of(consumer: &str) -> SelectStatement {
    let key =
        Expr::cust("order_event.order_id || ':' || order_event.type || ':' || order_event.subject");
    Query::select()
        .expr(Expr::val(1))
        .from(message_consume_log::Entity)
        .and_where(message_consume_log::Column::Consumer.eq(consumer))
        .and_where(Expr::col(message_consume_log::Column::BizKey).eq(key))
        .to_owned()
}

/// That a consumer failed at the event and tries again, or is dead.
fn failure_of(consumer: &str) -> SelectStatement {
    let event = (message_failure::Entity, message_failure::Column::EventId);
    Query::select()
        .expr(Expr::val(1))
        .from(message_failure::Entity)
        .and_where(message_failure::Column::Consumer.eq(consumer))
        .and_where(Expr::col(event).equals((Entity, Column::Id)))
        .to_owned()
}

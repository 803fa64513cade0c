//! The old rows of the four tables that are archived or purged: counted, read and deleted by ascending keys.
//!
//! What is selected here never changes any more, so a row that was copied may be deleted later.

use chrono::{DateTime, Utc};
use entity::archive_file::Table;
use entity::order::OrderStatus;
use entity::payment_callback::Outcome;
use entity::{
    idempotency_record as record, message_consume_log as log, message_failure as failure, order,
    order_event as event, payment_callback as callback,
};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, ModelTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};

use super::json_line::json_line;
use crate::database::Transaction;
use crate::domain::archive::{Age, Key};

/// Messages that something may still come of.
const OPEN: [Outcome; 3] = [Outcome::Parked, Outcome::Unresolved, Outcome::Refused];
/// Orders that nothing more is expected of.
const DONE: [OrderStatus; 3] = [
    OrderStatus::Finished,
    OrderStatus::Closed,
    OrderStatus::Refunded,
];

/// An old row as it goes into a file.
#[derive(Debug, Clone)]
pub struct Row {
    pub key: Key,
    pub created_at: DateTime<Utc>,
    pub line: String,
}

/// Where the old rows of a table are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub table: Table,
    pub age: Age,
    /// The highest id below the first row that is not old: the young majority is not searched.
    last_id: i64,
}

/// Finds out where a table's young rows begin.
pub async fn range(db: &impl ConnectionTrait, table: Table, age: Age) -> Result<Range, DbErr> {
    let first_young = match table {
        Table::PaymentCallback => {
            let young =
                callback::Entity::find().filter(callback::Column::CreatedAt.gte(age.before));
            first(db, young, callback::Column::Id).await?
        }
        Table::MessageConsumeLog => {
            let young = log::Entity::find().filter(log::Column::CreatedAt.gte(age.before));
            first(db, young, log::Column::Id).await?
        }
        Table::OrderEvent => {
            let young = event::Entity::find().filter(event::Column::CreatedAt.gte(age.before));
            first(db, young, event::Column::Id).await?
        }
        Table::IdempotencyRecord => None,
    };
    let last_id = first_young.map_or(i64::MAX, |id| id - 1);
    Ok(Range {
        table,
        age,
        last_id,
    })
}

/// How many old rows there are.
pub async fn count(db: &impl ConnectionTrait, range: &Range) -> Result<u64, DbErr> {
    match range.table {
        Table::PaymentCallback => callbacks(range, 0).count(db).await,
        Table::MessageConsumeLog => logs(range, 0).count(db).await,
        Table::OrderEvent => events(range, 0).count(db).await,
        Table::IdempotencyRecord => records(range, None).count(db).await,
    }
}

/// Up to `limit` old rows behind the key `after`, ascending.
pub async fn page(
    db: &impl ConnectionTrait,
    range: &Range,
    after: Option<&Key>,
    limit: u64,
) -> Result<Vec<Row>, DbErr> {
    let id = match after {
        Some(Key::Id(id)) => *id,
        _ => i64::MIN,
    };
    match range.table {
        Table::PaymentCallback => {
            let page = callbacks(range, id).order_by_asc(callback::Column::Id);
            rows(&page.limit(limit).all(db).await?, |row| {
                (Key::Id(row.id), row.created_at)
            })
        }
        Table::MessageConsumeLog => {
            let page = logs(range, id).order_by_asc(log::Column::Id);
            rows(&page.limit(limit).all(db).await?, |row| {
                (Key::Id(row.id), row.created_at)
            })
        }
        Table::OrderEvent => {
            let page = events(range, id).order_by_asc(event::Column::Id);
            rows(&page.limit(limit).all(db).await?, |row| {
                (Key::Id(row.id), row.created_at)
            })
        }
        Table::IdempotencyRecord => {
            let page = records(range, after)
                .order_by_asc(record::Column::CreatedAt)
                .order_by_asc(record::Column::Id);
            rows(&page.limit(limit).all(db).await?, |row| {
                (hash_key(row), row.created_at)
            })
        }
    }
}

/// Deletes exactly these rows, as far as they are there; returns how many were.
pub async fn delete(tx: &Transaction, table: Table, keys: &[Key]) -> Result<u64, DbErr> {
    let ids = keys.iter().filter_map(|key| match key {
        Key::Id(id) => Some(*id),
        Key::Hash { .. } => None,
    });
    let deleted = match table {
        Table::PaymentCallback => {
            let these = callback::Column::Id.is_in(ids);
            callback::Entity::delete_many().filter(these).exec(tx).await
        }
        Table::MessageConsumeLog => {
            let these = log::Column::Id.is_in(ids);
            log::Entity::delete_many().filter(these).exec(tx).await
        }
        Table::OrderEvent => {
            let these = event::Column::Id.is_in(ids);
            event::Entity::delete_many().filter(these).exec(tx).await
        }
        Table::IdempotencyRecord => {
            let hashes = || {
                keys.iter().filter_map(|key| match key {
                    Key::Hash { id, created_at } => Some((id.clone(), *created_at)),
                    Key::Id(_) => None,
                })
            };
            let these = record::Column::Id.is_in(hashes().map(|(id, _)| id));
            // A key may have been used anew meanwhile: its new record is younger than all of these.
            let newest = hashes().map(|(_, created_at)| created_at).max();
            let old = record::Column::CreatedAt.lte(newest);
            let these = record::Entity::delete_many().filter(these).filter(old);
            these.exec(tx).await
        }
    };
    Ok(deleted?.rows_affected)
}

fn callbacks(range: &Range, after: i64) -> Select<callback::Entity> {
    callback::Entity::find()
        .filter(callback::Column::Id.gt(after))
        .filter(callback::Column::Id.lte(range.last_id))
        .filter(callback::Column::CreatedAt.lt(range.age.before))
        .filter(callback::Column::Outcome.is_not_in(OPEN))
}

fn logs(range: &Range, after: i64) -> Select<log::Entity> {
    log::Entity::find()
        .filter(log::Column::Id.gt(after))
        .filter(log::Column::Id.lte(range.last_id))
        .filter(log::Column::CreatedAt.lt(range.age.before))
}

/// Keys without expiry, like a service's own, end in the far future: their records stay.
fn records(range: &Range, after: Option<&Key>) -> Select<record::Entity> {
    let old = record::Entity::find()
        .filter(record::Column::CreatedAt.lt(range.age.before))
        .filter(record::Column::ExpiresAt.lt(range.age.now));
    let Some(Key::Hash { created_at, id }) = after else {
        return old;
    };
    let behind = Condition::any()
        .add(record::Column::CreatedAt.gt(*created_at))
        .add(record::Column::Id.gt(id.clone()));
    old.filter(record::Column::CreatedAt.gte(*created_at))
        .filter(behind)
}

/// All events of an order or none: it has come to its end and rested, each was handed over, and
/// nobody failed on one.
fn events(range: &Range, after: i64) -> Select<event::Entity> {
    event::Entity::find()
        .filter(event::Column::Id.gt(after))
        .filter(event::Column::Id.lte(range.last_id))
        .filter(event::Column::CreatedAt.lt(range.age.before))
        .filter(event::Column::PublishedAt.is_not_null())
        .filter(Expr::exists(resting_order(range.age.before)))
        .filter(Expr::not_exists(failed_message()))
        .filter(Expr::not_exists(waiting_event()))
}

fn resting_order(before: DateTime<Utc>) -> SelectStatement {
    let of_event = (event::Entity, event::Column::OrderId);
    Query::select()
        .expr(Expr::val(1))
        .from(order::Entity)
        .and_where(Expr::col((order::Entity, order::Column::Id)).equals(of_event))
        .and_where(order::Column::Status.is_in(DONE))
        .and_where(order::Column::UpdatedAt.lt(before))
        .take()
}

fn failed_message() -> SelectStatement {
    let of_event = (event::Entity, event::Column::OrderId);
    Query::select()
        .expr(Expr::val(1))
        .from(failure::Entity)
        .and_where(Expr::col((failure::Entity, failure::Column::OrderId)).equals(of_event))
        .take()
}

fn waiting_event() -> SelectStatement {
    let other = Alias::new("other");
    let of_event = (event::Entity, event::Column::OrderId);
    Query::select()
        .expr(Expr::val(1))
        .from_as(event::Entity, other.clone())
        .and_where(Expr::col((other.clone(), event::Column::OrderId)).equals(of_event))
        .and_where(Expr::col((other, event::Column::PublishedAt)).is_null())
        .take()
}

async fn first<E: EntityTrait>(
    db: &impl ConnectionTrait,
    rows: Select<E>,
    id: E::Column,
) -> Result<Option<i64>, DbErr> {
    rows.select_only()
        .column(id)
        .order_by_asc(id)
        .limit(1)
        .into_tuple()
        .one(db)
        .await
}

fn rows<M: ModelTrait>(
    models: &[M],
    key: impl Fn(&M) -> (Key, DateTime<Utc>),
) -> Result<Vec<Row>, DbErr> {
    let row = |model: &M| {
        let (key, created_at) = key(model);
        let line = json_line(model).map_err(|error| DbErr::Json(error.to_string()))?;
        Ok(Row {
            key,
            created_at,
            line,
        })
    };
    models.iter().map(row).collect()
}

fn hash_key(row: &record::Model) -> Key {
    Key::Hash {
        created_at: row.created_at,
        id: row.id.clone(),
    }
}

//! `payment_callback`: what gateways told, once by event and once by fact.

use chrono::{DateTime, Utc};
use entity::payment_callback::{ActiveModel, Column, Entity, Kind, Model, Outcome};
use entity::{OrderId, PaymentId, alert};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect,
};

use super::rows;
use crate::database::Transaction;

/// Inserts; a violation of `uk_payment_callback_event` or `uk_payment_callback_biz` means that it,
/// or another message about the same fact, came before.
pub async fn insert(tx: &Transaction, callback: Model) -> Result<(), DbErr> {
    let row = rows::without_id::<ActiveModel, _>(callback);
    row.exec_without_returning(tx).await.map(|_| ())
}

pub async fn by_event(
    db: &impl ConnectionTrait,
    gateway: &str,
    event_id: &str,
) -> Result<Option<Model>, DbErr> {
    let key = Column::Gateway
        .eq(gateway)
        .and(Column::EventId.eq(event_id));
    rows::one::<Entity>(db, key).await
}

pub async fn by_fact(
    db: &impl ConnectionTrait,
    gateway: &str,
    biz_key: &str,
) -> Result<Option<Model>, DbErr> {
    let key = Column::Gateway.eq(gateway).and(Column::BizKey.eq(biz_key));
    rows::one::<Entity>(db, key).await
}

pub async fn of_order(db: &impl ConnectionTrait, order: OrderId) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::OrderId.eq(order))
        .order_by_asc(Column::Id)
        .all(db)
        .await
}

/// What waits to be judged again for a payment, in the order of arrival.
pub async fn parked(tx: &Transaction, payment: PaymentId) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::PaymentId.eq(payment))
        .filter(Column::Outcome.eq(Outcome::Parked))
        .filter(Column::Kind.is_in([Kind::RefundSucceeded, Kind::RefundFailed]))
        .order_by_asc(Column::Id)
        .all(tx)
        .await
}

/// How many wait to be judged again.
pub async fn count_parked(db: &impl ConnectionTrait) -> Result<u64, DbErr> {
    let parked = Entity::find().filter(Column::Outcome.eq(Outcome::Parked));
    parked.count(db).await
}

/// Up to a hundred callbacks that have ended so since before `before` and of which no alert of that kind tells.
pub async fn waiting_since(
    db: &impl ConnectionTrait,
    outcome: Outcome,
    before: DateTime<Utc>,
    kind: &str,
) -> Result<Vec<Model>, DbErr> {
    let told = Query::select()
        .expr(Expr::val(1))
        .from(alert::Entity)
        .and_where(alert::Column::Kind.eq(kind))
        .and_where(Expr::col(alert::Column::Subject).eq(Expr::cust("'' || payment_callback.id")))
        .to_owned();
    Entity::find()
        .filter(Column::Outcome.eq(outcome))
        .filter(Column::CreatedAt.lte(before))
        .filter(Expr::not_exists(told))
        .order_by_asc(Column::CreatedAt)
        .limit(100)
        .all(db)
        .await
}

/// Writes a new judgement over an old one; false when it was judged meanwhile.
pub async fn judge_again(tx: &Transaction, seen: &Model, judged: &Model) -> Result<bool, DbErr> {
    let result = Entity::update_many()
        .col_expr(Column::Outcome, Expr::value(judged.outcome))
        .col_expr(Column::BizKey, Expr::value(judged.biz_key.as_str()))
        .col_expr(Column::OrderId, Expr::value(judged.order_id))
        .col_expr(Column::UpdatedAt, Expr::value(judged.updated_at))
        .filter(Column::Id.eq(seen.id))
        .filter(Column::Outcome.eq(seen.outcome))
        .exec(tx)
        .await?;
    Ok(result.rows_affected == 1)
}

/// Counts one more delivery of a message that came `since` then: an older one does not change any more.
pub async fn count_delivery(
    db: &impl ConnectionTrait,
    id: i64,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Deliveries, Expr::col(Column::Deliveries).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(id))
        .filter(Column::CreatedAt.gte(since))
        .exec(db)
        .await?;
    Ok(())
}

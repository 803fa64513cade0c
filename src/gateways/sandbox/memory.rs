//! What the sandbox remembers, changed by single statements.

use chrono::{DateTime, Utc};
use entity::sandbox_payment::{ActiveModel, Column, Entity, Model, Standing};
use entity::{PaymentId, payment, sandbox_refund};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};

use super::super::gateway::{RefundStanding, Silence};
use crate::database::{Database, Transaction};
use crate::deadline;
use crate::error::Error;

impl From<DbErr> for Silence {
    /// A gateway whose memory does not answer says nothing.
    fn from(_: DbErr) -> Self {
        Self
    }
}

impl From<Error> for Silence {
    fn from(_: Error) -> Self {
        Self
    }
}

/// Notes an attempt that is to be paid; the same again changes nothing.
pub async fn remember(db: &impl ConnectionTrait, attempt: &payment::Model) -> Result<(), DbErr> {
    let row = ActiveModel {
        payment_id: Set(attempt.id),
        order_id: Set(attempt.order_id),
        amount: Set(attempt.amount),
        currency: Set(attempt.currency.clone()),
        status: Set(Standing::Open),
        trade_no: Set(String::new()),
        refunded_amount: Set(0),
        expires_at: Set(attempt.expires_at),
        paid_at: Set(None),
    };
    let ignore = OnConflict::column(Column::PaymentId)
        .do_nothing_on([Column::PaymentId])
        .to_owned();
    Entity::insert(row)
        .on_conflict(ignore)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

pub async fn find(db: &impl ConnectionTrait, id: PaymentId) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// OPEN → CLOSED; a paid one stays paid.
pub async fn close(db: &impl ConnectionTrait, id: PaymentId) -> Result<bool, DbErr> {
    let update = Entity::update_many().col_expr(Column::Status, Expr::value(Standing::Closed));
    let open = update
        .filter(Column::PaymentId.eq(id))
        .filter(Column::Status.eq(Standing::Open));
    Ok(open.exec(db).await?.rows_affected == 1)
}

/// OPEN → PAID, until its time is over.
pub async fn pay(
    db: &impl ConnectionTrait,
    id: PaymentId,
    trade_no: &str,
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Status, Expr::value(Standing::Paid))
        .col_expr(Column::TradeNo, Expr::value(trade_no))
        .col_expr(Column::PaidAt, Expr::value(now))
        .filter(Column::PaymentId.eq(id))
        .filter(Column::Status.eq(Standing::Open))
        .filter(Column::ExpiresAt.gt(now));
    Ok(update.exec(db).await?.rows_affected == 1)
}

/// Grants a refund of an attempt that it knows, up to its amount, once a number; both rows or none.
pub async fn refund(
    db: &Database,
    id: PaymentId,
    refund_no: &str,
    amount: i64,
) -> Result<RefundStanding, Silence> {
    let (db, refund_no) = (db.clone(), refund_no.to_owned());
    let until = deadline::current();
    // In a task of its own: what a gateway gives back may go to another thread, a transaction's work may not.
    let granting = actix_web::rt::spawn(deadline::with(until, async move {
        db.transaction(async |tx| Ok::<_, Error>(grant(tx, id, &refund_no, amount).await?))
            .await
    }));
    let granted = granting.await.map_err(|_broken_off| Silence)??;
    Ok(if granted {
        RefundStanding::Succeeded
    } else {
        RefundStanding::Failed
    })
}

async fn grant(
    tx: &Transaction,
    id: PaymentId,
    refund_no: &str,
    amount: i64,
) -> Result<bool, DbErr> {
    let known = sandbox_refund::Entity::find()
        .filter(sandbox_refund::Column::PaymentId.eq(id))
        .filter(sandbox_refund::Column::RefundNo.eq(refund_no));
    if known.one(tx).await?.is_some() {
        return Ok(true);
    }
    let sum = || Expr::col(Column::RefundedAmount).add(amount);
    let reserved = Entity::update_many()
        .col_expr(Column::RefundedAmount, sum())
        .filter(Column::PaymentId.eq(id))
        .filter(sum().lte(Expr::col(Column::Amount)))
        .exec(tx)
        .await?;
    if reserved.rows_affected == 0 {
        return Ok(false);
    }
    let row = sandbox_refund::ActiveModel {
        id: NotSet,
        payment_id: Set(id),
        refund_no: Set(refund_no.to_owned()),
        amount: Set(amount),
    };
    sandbox_refund::Entity::insert(row)
        .exec_without_returning(tx)
        .await?;
    Ok(true)
}

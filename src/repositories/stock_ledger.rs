//! `stock_ledger`: every change of a stock, each once.

use chrono::{DateTime, Utc};
use entity::ProductId;
use entity::stock_ledger::{ActiveModel, Entity, Reason};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{DbErr, EntityTrait};

use crate::database::Transaction;

/// One change that is about to be made.
#[derive(Debug, Clone)]
pub struct Change {
    pub product: ProductId,
    /// Pieces; negative for a deduction.
    pub pieces: i64,
    pub reason: Reason,
    pub biz_key: String,
}

/// Inserts in one statement; a violation of `uk_stock_ledger` means that it happened already.
pub async fn insert(
    tx: &Transaction,
    changes: impl IntoIterator<Item = Change>,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    let rows = changes.into_iter().map(|change| ActiveModel {
        id: NotSet,
        product_id: Set(change.product),
        change: Set(change.pieces),
        reason: Set(change.reason),
        biz_key: Set(change.biz_key),
        created_at: Set(now),
    });
    Entity::insert_many(rows).exec_without_returning(tx).await?;
    Ok(())
}

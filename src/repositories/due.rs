//! How a query finds what is due, see [`crate::domain::due`].

use chrono::{DateTime, Utc};
use sea_orm::ColumnTrait;
use sea_orm::sea_query::{ExprTrait, SimpleExpr};

use crate::domain::due::latest;

/// Whether what was put off until `column` is to be done now.
pub fn is_due(column: impl ColumnTrait, now: DateTime<Utc>) -> SimpleExpr {
    column.lte(now).or(column.gt(latest(now)))
}

//! Where an order goes.

use sea_orm::FromJsonQueryResult;
use serde::{Deserialize, Serialize};

/// A postal address as the customer gave it; checked at the door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, FromJsonQueryResult)]
pub struct Address {
    pub recipient: String,
    pub phone: String,
    /// ISO 3166-1 alpha-2.
    pub country: String,
    pub region: String,
    pub city: String,
    pub line1: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line2: Option<String>,
    pub postal_code: String,
}

//! One id type a table, so that an order's id cannot be passed where a product's is meant.

use std::fmt;
use std::str::FromStr;

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// What a text is that names no row of any table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id is a decimal number in a string")
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Travels as a decimal string: JavaScript's numbers end at 2^53.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, DeriveValueType)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let id = Self(text.parse().map_err(|_| NotAnId)?);
                // One id, one text: neither "+7" nor "07" is another name of 7.
                if id.0 >= 0 && id.to_string() == text {
                    Ok(id)
                } else {
                    Err(NotAnId)
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }
    };
}

id! {
    /// An order's snowflake id, minted with its order token.
    OrderId
}

id! {
    /// A product's id, given by the database.
    ProductId
}

id! {
    /// An attempt's snowflake id; the gateway knows the attempt by it.
    PaymentId
}

id! {
    /// A refund's id, given by the database; the gateway knows the refund by its number.
    RefundId
}

//! How the API's description shows types that the tables own.

use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use crate::gateways::KNOWN;

/// What kind of sale it is.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderType {
    Normal,
    FlashSale,
    GroupBuy,
}

/// Where an order stands.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    PendingPayment,
    Paying,
    Paid,
    Shipped,
    Finished,
    Closed,
    Refunding,
    Refunded,
}

/// Where an attempt stands.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    Created,
    Live,
    Succeeded,
    Failed,
    Closed,
}

/// The names of the payment gateways.
pub fn gateway() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The name of a payment gateway."))
        .enum_values(Some(KNOWN))
        .build()
}

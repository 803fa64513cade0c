//! Every failure of the service, and the one table from failure to code and HTTP status.

use entity::order::OrderStatus;
use entity::{OrderId, ProductId};
use log::Level;
use sea_orm::DbErr;

use crate::metrics::Layer;

/// What went wrong, named for what it means to the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("The request is not well-formed: {0}.")]
    Malformed(String),
    #[error("The request's body is larger than 64 KiB.")]
    TooLarge,
    #[error("Send the body as application/json, not compressed.")]
    NotJson,
    #[error("Some fields cannot be used; see errors.")]
    Invalid(Vec<FieldError>),
    #[error("Send a valid bearer token.")]
    Unauthorized,
    #[error("Your role may not do this.")]
    Forbidden,
    #[error("There is nothing here, or it is not yours.")]
    NotFound,
    #[error("This door does not know the method.")]
    MethodNotAllowed { allowed: &'static str },
    #[error(
        "Send an Idempotency-Key header; customers use an order token from POST /api/order-tokens."
    )]
    KeyMissing,
    #[error("The idempotency key must be 1 to 255 visible ASCII characters.")]
    KeyInvalid,
    #[error("The key was used for another request; a new request needs a new key.")]
    KeyReused,
    #[error("The order token is not one of ours for you; ask for one with POST /api/order-tokens.")]
    TokenInvalid,
    #[error(
        "The order token's life is over and no order came of it; look at your orders, then ask for a new token."
    )]
    TokenExpired,
    #[error("The same request is still running; ask again in a second.")]
    InProgress { layer: Layer },
    #[error("You have an order for this product already.")]
    OrderExists { order_id: OrderId },
    #[error("There are not enough pieces left.")]
    OutOfStock { product_id: ProductId },
    #[error("The product is not for sale now.")]
    NotOnSale { product_id: ProductId },
    #[error("The order now costs {amount} {currency} in minor units, not what was expected.")]
    PriceChanged { amount: i64, currency: String },
    #[error("The order's state does not allow this.")]
    StateConflict { status: OrderStatus },
    #[error("The time to pay is over; place a new order.")]
    OrderExpired,
    #[error("The order is paid.")]
    AlreadyPaid,
    #[error("Less than that is left of the payment.")]
    RefundExceedsPayment,
    #[error("The order was shipped another way.")]
    ShipmentDiffers,
    #[error(
        "The payment gateway did not answer; repeat the request, it asks for the same payment."
    )]
    GatewayUnknown,
    #[error("Somebody changed it since you read it; read it again.")]
    VersionConflict,
    #[error("Send If-Match with the version that you saw.")]
    VersionRequired,
    #[error("The service is busy; nothing was changed; try again in a moment.")]
    Busy,
    #[error("The database cannot be used now; repeat the same request in a moment.")]
    Unavailable(#[source] DbErr),
    #[error("The server's clock stepped back; try again in a moment.")]
    ClockBehind,
    #[error("Something went wrong on our side.")]
    Internal(String),
    /// A consumer's fact was acted on, as the effect's own key says: its log was archived.
    #[error("The message was acted on before.")]
    ActedOn,
    /// The service cannot start; the sentence says what to do.
    #[error("{0}")]
    Start(String),
}

/// One field that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct FieldError {
    /// Where in the body, like `items[0].quantity`.
    pub field: String,
    /// What to do about it.
    pub message: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

/// Every code of [`Error::code_and_status`], for the API's description.
pub const CODES: [&str; 30] = [
    "malformed_request",
    "idempotency_key_missing",
    "idempotency_key_invalid",
    "order_token_invalid",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "request_in_progress",
    "order_exists",
    "out_of_stock",
    "not_on_sale",
    "price_changed",
    "order_state_conflict",
    "order_token_expired",
    "version_conflict",
    "body_too_large",
    "unsupported_media_type",
    "invalid_fields",
    "idempotency_key_reused",
    "version_required",
    "internal_error",
    "busy",
    "database_unavailable",
    "clock_behind",
    "order_expired",
    "already_paid",
    "refund_exceeds_payment",
    "shipment_differs",
    "gateway_unknown",
];

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// One field's refusal.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(field, message)])
    }

    /// The stable code that clients act on, and the HTTP status.
    pub const fn code_and_status(&self) -> (&'static str, u16) {
        match self {
            Self::Malformed(_) => ("malformed_request", 400),
            Self::KeyMissing => ("idempotency_key_missing", 400),
            Self::KeyInvalid => ("idempotency_key_invalid", 400),
            Self::TokenInvalid => ("order_token_invalid", 400),
            Self::Unauthorized => ("unauthorized", 401),
            Self::Forbidden => ("forbidden", 403),
            Self::NotFound => ("not_found", 404),
            Self::MethodNotAllowed { .. } => ("method_not_allowed", 405),
            Self::InProgress { .. } => ("request_in_progress", 409),
            Self::OrderExists { .. } => ("order_exists", 409),
            Self::OutOfStock { .. } => ("out_of_stock", 409),
            Self::NotOnSale { .. } => ("not_on_sale", 409),
            Self::PriceChanged { .. } => ("price_changed", 409),
            Self::StateConflict { .. } => ("order_state_conflict", 409),
            Self::OrderExpired => ("order_expired", 409),
            Self::AlreadyPaid => ("already_paid", 409),
            Self::RefundExceedsPayment => ("refund_exceeds_payment", 409),
            Self::ShipmentDiffers => ("shipment_differs", 409),
            Self::GatewayUnknown => ("gateway_unknown", 504),
            Self::TokenExpired => ("order_token_expired", 410),
            Self::VersionConflict => ("version_conflict", 412),
            Self::TooLarge => ("body_too_large", 413),
            Self::NotJson => ("unsupported_media_type", 415),
            Self::Invalid(_) => ("invalid_fields", 422),
            Self::KeyReused => ("idempotency_key_reused", 422),
            Self::VersionRequired => ("version_required", 428),
            Self::Internal(_) | Self::ActedOn | Self::Start(_) => ("internal_error", 500),
            Self::Busy => ("busy", 503),
            Self::Unavailable(_) => ("database_unavailable", 503),
            Self::ClockBehind => ("clock_behind", 503),
        }
    }

    /// After how many seconds a repeat makes sense; `None` when it does not help by itself.
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::InProgress { .. }
            | Self::Busy
            | Self::Unavailable(_)
            | Self::ClockBehind
            | Self::GatewayUnknown => Some(1),
            _ => None,
        }
    }

    /// What an operator needs to know; clients never hear it.
    pub fn cause(&self) -> String {
        match self {
            Self::Internal(cause) => cause.clone(),
            Self::Unavailable(cause) => cause.to_string(),
            other => other.to_string(),
        }
    }

    /// How loudly whoever goes on all the same tells it: the database's trouble is told once, by those who watch it.
    pub const fn level(&self) -> Level {
        match self {
            Self::Unavailable(_) => Level::Debug,
            _ => Level::Warn,
        }
    }

    /// The layer that caught a repeat, where the refusal is of one.
    pub const fn layer(&self) -> Option<Layer> {
        match self {
            Self::InProgress { layer } => Some(*layer),
            Self::OrderExists { .. } => Some(Layer::OrderUnique),
            Self::TokenInvalid => Some(Layer::Token),
            _ => None,
        }
    }
}

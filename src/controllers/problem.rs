//! Errors as RFC 9457 problems: a stable code and what to do next, never a cause or SQL.

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};
use log::error;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use super::answers::LAYER_HEADER;
use super::turned_away;
use crate::error::{CODES, Error, FieldError};
use crate::services::api::schema;

pub const PROBLEM_JSON: &str = "application/problem+json";

/// What every refusal looks like.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Names the code as a URN.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What to do next, in English.
    pub detail: String,
    /// What programs act on; never changes.
    #[schema(schema_with = codes)]
    pub code: &'static str,
    /// With `order_exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// With `out_of_stock` and `not_on_sale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product_id: Option<String>,
    /// With `price_changed`: what the order costs now, in minor units of `currency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// With `price_changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// With `order_state_conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::OrderStatus>)]
    pub order_status: Option<String>,
    /// With `invalid_fields`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<FieldError>>,
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code_and_status().1).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        log(self);
        let mut response = HttpResponse::build(self.status_code());
        if let Some(seconds) = self.retry_after() {
            response.insert_header((RETRY_AFTER, seconds.to_string()));
        }
        if let Some(layer) = self.layer() {
            response.insert_header((LAYER_HEADER, layer.name()));
        }
        match self {
            Self::Unauthorized => response.insert_header((WWW_AUTHENTICATE, "Bearer")),
            Self::MethodNotAllowed { allowed } => response.insert_header((ALLOW, *allowed)),
            _ => &mut response,
        };
        response.content_type(PROBLEM_JSON).json(body(self))
    }
}

/// A failure of ours is logged here and nowhere else; a database in trouble is told once, not once a request.
fn log(failure: &Error) {
    let (code, _) = failure.code_and_status();
    match failure {
        Error::Internal(cause) | Error::Start(cause) => error!(code, cause; "a request failed"),
        Error::Busy | Error::ClockBehind => turned_away::note(code),
        _ => {}
    }
}

fn body(error: &Error) -> Map<String, Value> {
    let (code, status) = error.code_and_status();
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("type", json!(format!("urn:order-service:problem:{code}")));
    put("title", json!(code.replace('_', " ")));
    put("status", json!(status));
    put("detail", json!(error.to_string()));
    put("code", json!(code));
    match error {
        Error::OrderExists { order_id } => put("order_id", json!(order_id)),
        Error::OutOfStock { product_id } | Error::NotOnSale { product_id } => {
            put("product_id", json!(product_id))
        }
        Error::PriceChanged { amount, currency } => {
            put("amount", json!(amount));
            put("currency", json!(currency))
        }
        // The member `status` is the HTTP status by RFC 9457, so the order's has a name of its own.
        Error::StateConflict { status } => put("order_status", json!(status)),
        Error::Invalid(errors) => put("errors", json!(errors)),
        _ => None,
    };
    body
}

fn codes() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(CODES))
        .build()
}

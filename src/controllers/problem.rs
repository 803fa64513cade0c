//! Errors as RFC 9457 problems: a stable code and what to do next, never a cause or SQL.

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpResponse, ResponseError};
use log::{error, warn};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, PartialSchema, ToSchema, openapi};

use super::answers::LAYER_HEADER;
use crate::error::{Error, FieldError};

const PROBLEM_JSON: &str = "application/problem+json";

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
    pub code: &'static str,
    /// With `order_exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// With `out_of_stock` and `not_on_sale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product_id: Option<String>,
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
        if matches!(self, Self::Unauthorized) {
            response.insert_header(("WWW-Authenticate", "Bearer"));
        }
        response.content_type(PROBLEM_JSON).json(body(self))
    }
}

/// A failure of ours is logged here and nowhere else.
fn log(failure: &Error) {
    let (code, _) = failure.code_and_status();
    match failure {
        Error::Internal(cause) | Error::Start(cause) => error!(code, cause; "a request failed"),
        Error::Unavailable(cause) => warn!(code, cause:% = cause; "the database did not answer"),
        Error::Busy | Error::ClockBehind => warn!(code; "a request was turned away"),
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

/// The refusals that any door may give, for the API's description.
#[derive(Debug)]
pub struct Problems;

impl IntoResponses for Problems {
    fn responses() -> std::collections::BTreeMap<String, RefOr<Response>> {
        let statuses = [
            (400, "Not well-formed, or a key that cannot be used."),
            (401, "No valid bearer token."),
            (403, "Not with this role."),
            (404, "Nothing here, or not yours."),
            (409, "A conflict with the state; see `code`."),
            (410, "The order token's life is over."),
            (412, "Changed since it was read."),
            (413, "The body is larger than 64 KiB."),
            (415, "The body is not JSON."),
            (
                422,
                "Fields that cannot be used, or a key used for another request.",
            ),
            (428, "If-Match is missing."),
            (
                503,
                "Busy; nothing was changed; try again after Retry-After seconds.",
            ),
        ];
        statuses
            .into_iter()
            .map(|(status, text)| (status.to_string(), described(text)))
            .collect()
    }
}

fn described(text: &str) -> RefOr<Response> {
    let content = openapi::ContentBuilder::new()
        .schema(Some(Problem::schema()))
        .build();
    ResponseBuilder::new()
        .description(text)
        .content(PROBLEM_JSON, content)
        .build()
        .into()
}

//! How answers are made, and how work outlives a client that hangs up.

use std::future::Future;

use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, LOCATION};
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use crate::deadline;
use crate::error::{Error, Result};
use crate::idempotency::Key;
use crate::idempotency::context::KEY_HEADER;
use crate::metrics::Layer;
use crate::services::keyed_requests::replay::Answer;

/// Says which layer caught a repeat.
pub const LAYER_HEADER: &str = "Idempotency-Layer";

/// Runs `work` to its end even when the client hangs up, so that a claim is not left to its lease.
/// Its deadline is the request's.
pub async fn to_the_end<T: 'static>(work: impl Future<Output = Result<T>> + 'static) -> Result<T> {
    actix_web::rt::spawn(deadline::with(deadline::current(), work))
        .await
        .map_err(|error| Error::Internal(format!("the work of a request broke off: {error}")))?
}

/// 200 with the version as the entity tag.
pub fn versioned(body: &impl Serialize, version: i64) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((ETAG, format!("\"{version}\"")))
        .json(body)
}

/// The answer to a keyed creation of an order: 201, the key, and for a replay who caught it.
pub fn created(answer: &Answer, key: &Key) -> HttpResponse {
    let mut response = keyed(StatusCode::CREATED, key, answer.replayed);
    response
        .insert_header((LOCATION, format!("/api/orders/{}", answer.order.id)))
        .insert_header((ETAG, format!("\"{}\"", answer.order.version)))
        .json(&answer.order)
}

/// An answer that echoes its key and says who caught the repeat.
pub fn keyed(status: StatusCode, key: &Key, replayed: Option<Layer>) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((KEY_HEADER, key.as_str()));
    if let Key::Generated(_) = key {
        response.insert_header(("Idempotency-Key-Generated", "true"));
    }
    if let Some(layer) = replayed {
        response
            .insert_header(("Idempotency-Replayed", "true"))
            .insert_header((LAYER_HEADER, layer.name()));
    }
    response
}

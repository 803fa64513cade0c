//! `/api/payments/callback/{gateway}`: what gateways tell, answered in their own words.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use super::door::door;
use super::refusals::Ids;
use crate::app::App;
use crate::error::Result;
use crate::services::payments::callbacks;

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(door("/api/payments/callback/{gateway}", "POST").route(web::post().to(receive)));
}

/// A gateway's message, by its signature. Success is said only for what is durably stored.
#[utoipa::path(
    post,
    path = "/api/payments/callback/{gateway}",
    operation_id = "receive_callback",
    tag = "payments",
    request_body(content = String, content_type = "application/json"),
    params(("gateway" = String, Path, description = "Its name, like `sandbox`.")),
    responses(
        (status = 200, description = "Taken in.", body = Object),
        (status = 400, description = "Signed, and no message.", body = Object),
        (status = 401, description = "Not signed by the gateway, or long ago.", body = Object),
        (status = 413, description = "Larger than 64 KiB.", body = Object),
        (status = 503, description = "Not taken in; come again.", body = Object),
        Ids
    )
)]
pub async fn receive(
    app: web::Data<App>,
    gateway: web::Path<String>,
    request: HttpRequest,
    raw: Result<web::Bytes, actix_web::Error>,
) -> Result<HttpResponse> {
    app.gateway(&gateway)?;
    let raw = raw.map_err(|error| crate::idempotency::json::unreadable(&error))?;
    let headers = request.headers().clone();
    // Large: boxed, so that the task that waits for it stays small.
    let work = async move {
        let gateway = app.gateway(&gateway)?;
        Box::pin(callbacks::receive(&app, gateway, &headers, &raw)).await
    };
    let words = super::answers::to_the_end(work).await?;
    let status = StatusCode::from_u16(words.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    Ok(HttpResponse::build(status)
        .content_type(words.content_type)
        .body(words.body))
}

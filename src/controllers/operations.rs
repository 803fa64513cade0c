//! `/metrics`: what operators watch.

use actix_web::{HttpResponse, web};

use super::door::{door, reading};
use crate::app::App;
use crate::error::{Error, Result};
use crate::services::operations::backlog;

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(door("/metrics", "GET, HEAD").route(reading().to(metrics)));
}

/// Every number of this instance, and what waits in the database, in the Prometheus text format.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operations",
    responses((status = 200, description = "Prometheus text.", body = String, content_type = "text/plain"))
)]
pub async fn metrics(app: web::Data<App>) -> Result<HttpResponse> {
    backlog::measure(&app).await;
    let text = app
        .metrics
        .render()
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(text))
}

//! `/healthz` and `/readyz`: for load balancers.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

use super::door::{door, reading};
use crate::app::App;
use crate::services::operations::readiness::{self, Readiness, State};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/healthz", "GET, HEAD").route(reading().to(alive)))
        .service(door("/readyz", "GET, HEAD").route(reading().to(ready)));
}

/// That the process answers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Alive {
    status: &'static str,
}

/// The process answers.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "operations",
    responses((status = 200, description = "It does.", body = Alive))
)]
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(Alive { status: "ok" })
}

/// Whether requests should come here: the database and order ids are needed; Redis and the broker only spare work or wait.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operations",
    responses(
        (status = 200, description = "Ready, or degraded.", body = Readiness),
        (status = 503, description = "The database cannot be used, or no order id can be minted: `reasons` says why.", body = Readiness)
    )
)]
pub async fn ready(app: web::Data<App>) -> HttpResponse {
    let readiness = readiness::check(&app).await;
    match readiness.status {
        State::Down => HttpResponse::ServiceUnavailable().json(readiness),
        State::Ready | State::Degraded => HttpResponse::Ok().json(readiness),
    }
}

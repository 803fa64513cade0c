//! `/api/orders/{id}/refunds`: money that goes back.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use entity::OrderId;

use super::answers::{keyed, to_the_end};
use super::callers::OwnerOrOperator;
use super::door::{door, reading};
use super::path::Id;
use super::refusals::{Bodies, Callers, Failures, Ids, States};
use crate::app::App;
use crate::error::Result;
use crate::idempotency::IdempotentContext;
use crate::services::api::refund::{NewRefund, RefundView};
use crate::services::api::responses::List;
use crate::services::payments::request_refund;

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(
        door("/api/orders/{id}/refunds", "GET, HEAD, POST")
            .route(web::post().to(create))
            .route(reading().to(list)),
    );
}

/// Asks for a refund, once for each key; the gateway is asked by a job.
#[utoipa::path(
    post,
    path = "/api/orders/{id}/refunds",
    operation_id = "create_refund",
    tag = "payments",
    request_body = NewRefund,
    params(
        ("id" = String, Path, description = "The order's id."),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters.")
    ),
    responses(
        (status = 201, description = "The refund.", body = RefundView),
        Callers, Bodies, Ids, States, Failures
    ),
    security(("bearer" = []))
)]
pub async fn create(
    app: web::Data<App>,
    id: Id<OrderId>,
    request: IdempotentContext<NewRefund>,
) -> Result<HttpResponse> {
    let key = request.key.clone();
    let work = async move { request_refund::create(&app, id.0, &request).await };
    let asked = to_the_end(work).await?;
    Ok(keyed(StatusCode::CREATED, &key, asked.replayed).json(asked.refund))
}

/// All refunds of an order.
#[utoipa::path(
    get,
    path = "/api/orders/{id}/refunds",
    operation_id = "list_refunds",
    tag = "payments",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The refunds.", body = List<RefundView>), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn list(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    let data = request_refund::list(&app, &caller.0, id.0).await?;
    Ok(HttpResponse::Ok().json(List { data }))
}

//! `/api/orders/{id}/payments` and `/api/payments/{id}`: attempts to pay.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use entity::{OrderId, PaymentId};

use super::answers::{keyed, to_the_end};
use super::callers::OwnerOrOperator;
use super::door::{door, reading};
use super::path::Id;
use super::refusals::{Bodies, Callers, Failures, Gateways, Ids, States};
use crate::app::App;
use crate::error::Result;
use crate::idempotency::IdempotentContext;
use crate::services::api::payment::{NewPayment, PaymentView};
use crate::services::api::responses::List;
use crate::services::payments::start_payment;

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(
            door("/api/orders/{id}/payments", "GET, HEAD, POST")
                .route(web::post().to(start))
                .route(reading().to(list)),
        )
        .service(door("/api/payments/{id}", "GET, HEAD").route(reading().to(read)));
}

/// Starts an attempt, or answers the live one of the same gateway; a repeat changes nothing.
#[utoipa::path(
    post,
    path = "/api/orders/{id}/payments",
    operation_id = "start_payment",
    tag = "payments",
    request_body = NewPayment,
    params(("id" = String, Path, description = "The order's id.")),
    responses(
        (status = 201, description = "A new attempt.", body = PaymentView),
        (status = 200, description = "The live attempt.", body = PaymentView),
        Callers, Bodies, Ids, States, Gateways, Failures
    ),
    security(("bearer" = []))
)]
pub async fn start(
    app: web::Data<App>,
    id: Id<OrderId>,
    request: IdempotentContext<NewPayment>,
) -> Result<HttpResponse> {
    let key = request.key.clone();
    let work = async move { start_payment::start(&app, id.0, &request).await };
    let started = to_the_end(work).await?;
    let status = if started.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(keyed(status, &key, started.replayed).json(started.payment))
}

/// All attempts of an order.
#[utoipa::path(
    get,
    path = "/api/orders/{id}/payments",
    operation_id = "list_payments",
    tag = "payments",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The attempts.", body = List<PaymentView>), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn list(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    let data = start_payment::list(&app, &caller.0, id.0).await?;
    Ok(HttpResponse::Ok().json(List { data }))
}

/// One attempt.
#[utoipa::path(
    get,
    path = "/api/payments/{id}",
    operation_id = "read_payment",
    tag = "payments",
    params(("id" = String, Path, description = "The payment's id.")),
    responses((status = 200, description = "The attempt.", body = PaymentView), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn read(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<PaymentId>,
) -> Result<HttpResponse> {
    let payment = start_payment::read(&app, &caller.0, id.0).await?;
    Ok(HttpResponse::Ok().json(payment))
}

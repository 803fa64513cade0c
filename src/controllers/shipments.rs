//! `/api/orders/{id}/shipment` and `…/receipt`: PUTs, because the same again is the same.

use actix_web::{HttpResponse, web};
use entity::OrderId;

use super::answers::{to_the_end, versioned};
use super::body::Body;
use super::callers::{Customer, Operator};
use super::door::door;
use super::path::Id;
use super::refusals::{Bodies, Callers, Failures, Ids, States};
use crate::app::App;
use crate::error::Result;
use crate::services::api::responses::OrderView;
use crate::services::api::shipment::Shipment;
use crate::services::orders::shipments;

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/orders/{id}/shipment", "PUT").route(web::put().to(ship)))
        .service(door("/api/orders/{id}/receipt", "PUT").route(web::put().to(receive)));
}

/// Ships a paid order; the same shipment again is 200 and nothing happens.
#[utoipa::path(
    put,
    path = "/api/orders/{id}/shipment",
    operation_id = "ship_order",
    tag = "orders",
    request_body = Shipment,
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The order.", body = OrderView), Callers, Bodies, Ids, States, Failures),
    security(("bearer" = []))
)]
pub async fn ship(
    app: web::Data<App>,
    operator: Operator,
    id: Id<OrderId>,
    shipment: Body<Shipment>,
) -> Result<HttpResponse> {
    let work = async move { shipments::ship(&app, &operator.0, id.0, &shipment.0).await };
    let order = to_the_end(work).await?;
    Ok(versioned(&order, order.version))
}

/// Confirms that the parcel arrived; again is 200 and nothing happens.
#[utoipa::path(
    put,
    path = "/api/orders/{id}/receipt",
    operation_id = "confirm_receipt",
    tag = "orders",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The order.", body = OrderView), Callers, Ids, States, Failures),
    security(("bearer" = []))
)]
pub async fn receive(
    app: web::Data<App>,
    owner: Customer,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    let work = async move { shipments::receive(&app, &owner.0, id.0).await };
    let order = to_the_end(work).await?;
    Ok(versioned(&order, order.version))
}

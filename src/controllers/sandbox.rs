//! `/api/sandbox`: the sandbox gateway's own site. The doors exist in development only.

use actix_web::{HttpResponse, web};
use entity::PaymentId;

use super::answers::to_the_end;
use super::body::Body;
use super::door::{door, reading};
use super::path::Id;
use super::refusals::{Bodies, Failures, Ids, States};
use crate::app::App;
use crate::error::Result;
use crate::services::payments::cashier::{self, CashierView, Pressed};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/sandbox/payments/{id}", "GET, HEAD").route(reading().to(look)))
        .service(door("/api/sandbox/payments/{id}/actions", "POST").route(web::post().to(press)));
}

/// An attempt as the sandbox knows it, and every answer that its messages got.
#[utoipa::path(
    get,
    path = "/api/sandbox/payments/{id}",
    operation_id = "look_at_cashier",
    tag = "development",
    params(("id" = String, Path, description = "The payment's id.")),
    responses((status = 200, description = "The attempt.", body = CashierView), Ids, Failures)
)]
pub async fn look(app: web::Data<App>, id: Id<PaymentId>) -> Result<HttpResponse> {
    Ok(HttpResponse::Ok().json(cashier::look(&app, id.0).await?))
}

/// Presses a button of the cashier; answers when the first deliveries were tried.
#[utoipa::path(
    post,
    path = "/api/sandbox/payments/{id}/actions",
    operation_id = "press_cashier_button",
    tag = "development",
    request_body = Pressed,
    params(("id" = String, Path, description = "The payment's id.")),
    responses((status = 200, description = "The attempt.", body = CashierView), Bodies, Ids, States, Failures)
)]
pub async fn press(
    app: web::Data<App>,
    id: Id<PaymentId>,
    pressed: Body<Pressed>,
) -> Result<HttpResponse> {
    let work = async move { cashier::press(&app, id.0, pressed.0.action).await };
    Ok(HttpResponse::Ok().json(to_the_end(work).await?))
}

//! `/api/order-tokens`: the right to create one order.

use actix_web::{HttpResponse, web};

use super::callers::Customer;
use super::door::door;
use super::refusals::{Callers, Failures};
use crate::app::App;
use crate::error::Result;
use crate::services::orders::order_tokens::{self, IssuedToken};

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(door("/api/order-tokens", "POST").route(web::post().to(issue)));
}

/// Ask for one when the checkout opens, keep it over a reload, send it with every try.
#[utoipa::path(
    post,
    path = "/api/order-tokens",
    operation_id = "issue_order_token",
    tag = "orders",
    responses((status = 201, description = "A new token.", body = IssuedToken), Callers, Failures),
    security(("bearer" = []))
)]
pub async fn issue(app: web::Data<App>, caller: Customer) -> Result<HttpResponse> {
    let token = order_tokens::issue(&app, &caller.0).await?;
    Ok(HttpResponse::Created().json(token))
}

//! `/api/points` and `/api/notifications`: what a customer has, and what he was told.

use actix_web::{HttpRequest, HttpResponse, web};

use super::body::query;
use super::callers::Customer;
use super::door::{door, reading};
use super::pages::PageQuery;
use super::refusals::{Callers, Failures, Queries};
use crate::app::App;
use crate::error::Result;
use crate::services::api::responses::Page;
use crate::services::customers::notifications::{self, NotificationView};
use crate::services::customers::points::{self, PointsView};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/points", "GET, HEAD").route(reading().to(points)))
        .service(door("/api/notifications", "GET, HEAD").route(reading().to(notifications)));
}

/// The caller's loyalty points and their movements, newest first.
#[utoipa::path(
    get,
    path = "/api/points",
    operation_id = "read_points",
    tag = "customers",
    params(PageQuery),
    responses((status = 200, description = "Points.", body = PointsView), Callers, Queries, Failures),
    security(("bearer" = []))
)]
pub async fn points(
    app: web::Data<App>,
    customer: Customer,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let page: PageQuery = query(&request)?;
    let before = page.after()?.unwrap_or(i64::MAX);
    let points = points::read(&app, &customer.0, before, page.limit()?).await?;
    Ok(HttpResponse::Ok().json(points))
}

/// What the caller was told of his orders, newest first.
#[utoipa::path(
    get,
    path = "/api/notifications",
    operation_id = "list_notifications",
    tag = "customers",
    params(PageQuery),
    responses(
        (status = 200, description = "A page.", body = Page<NotificationView>),
        Callers, Queries, Failures
    ),
    security(("bearer" = []))
)]
pub async fn notifications(
    app: web::Data<App>,
    customer: Customer,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let page: PageQuery = query(&request)?;
    let before = page.after()?.unwrap_or(i64::MAX);
    let told = notifications::list(&app, &customer.0, before, page.limit()?).await?;
    Ok(HttpResponse::Ok().json(told))
}

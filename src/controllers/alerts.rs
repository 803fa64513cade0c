//! `/api/alerts`: what a person must see.

use actix_web::{HttpResponse, web};

use super::callers::Operator;
use super::door::{door, reading};
use super::path::Id;
use super::refusals::{Callers, Failures, Ids};
use crate::app::App;
use crate::error::Result;
use crate::services::api::responses::List;
use crate::services::operations::alert_list::{self, AlertView};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/alerts", "GET, HEAD").route(reading().to(list)))
        .service(door("/api/alerts/{id}/acknowledgement", "PUT").route(web::put().to(acknowledge)));
}

/// The newest 200, those that nobody saw first.
#[utoipa::path(
    get,
    path = "/api/alerts",
    operation_id = "list_alerts",
    tag = "operations",
    responses((status = 200, description = "Alerts.", body = List<AlertView>), Callers, Failures),
    security(("bearer" = []))
)]
pub async fn list(app: web::Data<App>, _operator: Operator) -> Result<HttpResponse> {
    let data = alert_list::list(&app).await?;
    Ok(HttpResponse::Ok().json(List { data }))
}

/// Notes that somebody saw it; again is 200 and nothing happens.
#[utoipa::path(
    put,
    path = "/api/alerts/{id}/acknowledgement",
    operation_id = "acknowledge_alert",
    tag = "operations",
    params(("id" = String, Path, description = "The alert's id.")),
    responses((status = 200, description = "The alert.", body = AlertView), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn acknowledge(
    app: web::Data<App>,
    _operator: Operator,
    id: Id<i64>,
) -> Result<HttpResponse> {
    let alert = alert_list::acknowledge(&app, id.0).await?;
    Ok(HttpResponse::Ok().json(alert))
}

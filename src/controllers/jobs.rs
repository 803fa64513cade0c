//! `/api/jobs`: what runs by itself, when, and with what result.

use actix_web::{HttpResponse, web};

use super::callers::Operator;
use super::door::{door, reading};
use super::refusals::{Callers, Failures};
use crate::app::App;
use crate::error::Result;
use crate::services::api::responses::List;
use crate::services::operations::job_runs::{self, JobView};

pub fn configure(config: &mut web::ServiceConfig) {
    config.service(door("/api/jobs", "GET, HEAD").route(reading().to(list)));
}

/// The scheduled jobs with their last ten runs.
#[utoipa::path(
    get,
    path = "/api/jobs",
    operation_id = "list_jobs",
    tag = "operations",
    responses((status = 200, description = "Jobs.", body = List<JobView>), Callers, Failures),
    security(("bearer" = []))
)]
pub async fn list(app: web::Data<App>, _operator: Operator) -> Result<HttpResponse> {
    let data = job_runs::list(&app).await?;
    Ok(HttpResponse::Ok().json(List { data }))
}

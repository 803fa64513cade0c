//! `/api/failed-messages`: what consumers could not do, and its replay.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answers::{keyed, to_the_end};
use super::body::query;
use super::callers::Operator;
use super::door::{door, reading};
use super::pages::{cursor_id, page_length};
use super::path::Id;
use super::refusals::{Bodies, Callers, Failures, Ids, Queries, States};
use crate::app::App;
use crate::error::Result;
use crate::idempotency::IdempotentContext;
use crate::services::api::responses::Page;
use crate::services::events::failed_messages::{self, FailureView, State};
use crate::services::events::replay_failed::{self, NewReplay};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/failed-messages", "GET, HEAD").route(reading().to(list)))
        .service(door("/api/failed-messages/{id}/replay", "POST").route(web::post().to(replay)));
}

/// Which page of which failures.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FailureQuery {
    /// `DEAD`: nobody tries them any more; `WAITING`: they are tried again by themselves.
    #[param(inline)]
    state: Option<State>,
    /// 1 to 100, 20 when it is not sent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A replay that was taken in.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReplayView {
    /// `null` when the message has worked by now.
    failure: Option<FailureView>,
}

/// Messages that failed, the oldest first.
#[utoipa::path(
    get,
    path = "/api/failed-messages",
    operation_id = "list_failed_messages",
    tag = "operations",
    params(FailureQuery),
    responses((status = 200, description = "A page.", body = Page<FailureView>), Callers, Queries, Failures),
    security(("bearer" = []))
)]
pub async fn list(
    app: web::Data<App>,
    _operator: Operator,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let FailureQuery {
        state,
        limit,
        cursor,
    } = query(&request)?;
    let after = cursor_id(cursor.as_deref())?.unwrap_or(0);
    let page = failed_messages::list(&app, state, after, page_length(limit)?).await?;
    Ok(HttpResponse::Ok().json(page))
}

/// Lets a failed message be tried again from the beginning, within a second or so.
///
/// What it does happens once, however often it is replayed.
#[utoipa::path(
    post,
    path = "/api/failed-messages/{id}/replay",
    operation_id = "replay_message",
    tag = "operations",
    request_body = NewReplay,
    params(
        ("id" = String, Path, description = "The failure's id."),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 255 visible ASCII characters.")
    ),
    responses(
        (status = 202, description = "It is tried again.", body = ReplayView),
        Callers, Bodies, Ids, States, Failures
    ),
    security(("bearer" = []))
)]
pub async fn replay(
    app: web::Data<App>,
    id: Id<i64>,
    request: IdempotentContext<NewReplay>,
) -> Result<HttpResponse> {
    let key = request.key.clone();
    let work = async move { replay_failed::create(&app, id.0, &request).await };
    let replayed = to_the_end(work).await?;
    let view = ReplayView {
        failure: replayed.failure,
    };
    Ok(keyed(StatusCode::ACCEPTED, &key, replayed.layer).json(view))
}

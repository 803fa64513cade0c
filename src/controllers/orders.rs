//! `/api/orders`: place, read, list, change the address, cancel.

use actix_web::{HttpRequest, HttpResponse, web};
use entity::OrderId;
use entity::order::OrderStatus;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answers::{created, to_the_end, versioned};
use super::body::{Body, query};
use super::callers::OwnerOrOperator;
use super::door::{door, reading};
use super::pages::page_length;
use super::path::{Id, SeenVersion};
use super::refusals::{Bodies, Callers, Ends, Failures, Ids, Queries, States, Versions};
use crate::app::App;
use crate::error::Result;
use crate::idempotency::IdempotentContext;
use crate::services::api::requests::{NewOrder, PostalAddress};
use crate::services::api::responses::{OrderView, Page};
use crate::services::api::schema;
use crate::services::orders::manage_orders::{self, Filter};
use crate::services::orders::place_order;
use crate::services::orders::timeline::Timeline;

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(
            door("/api/orders", "GET, HEAD, POST")
                .route(web::post().to(place))
                .route(reading().to(list)),
        )
        .service(
            door("/api/orders/{id}", "GET, HEAD, DELETE")
                .route(reading().to(read))
                .route(web::delete().to(cancel)),
        )
        .service(door("/api/orders/{id}/timeline", "GET, HEAD").route(reading().to(timeline)))
        .service(door("/api/orders/{id}/address", "PUT").route(web::put().to(change_address)));
}

/// Which page of which orders.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    #[param(value_type = Option<schema::OrderStatus>, inline)]
    status: Option<OrderStatus>,
    /// 1 to 100, 20 when it is not sent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Places an order, once for each key.
///
/// A customer's key is an order token; a service brings its own. The same key with the same body is
/// answered with the order as it is now and `Idempotency-Replayed: true`.
#[utoipa::path(
    post,
    path = "/api/orders",
    operation_id = "place_order",
    tag = "orders",
    request_body = NewOrder,
    params((
        "Idempotency-Key" = String, Header,
        description = "The order token, or a service's own key of 1 to 255 visible ASCII characters."
    )),
    responses(
        (status = 201, description = "The order.", body = OrderView, headers(
            ("Location" = String, description = "Where the order is."),
            ("ETag" = String, description = "The order's version."),
            ("Idempotency-Key" = String, description = "The key, echoed."),
            ("Idempotency-Replayed" = String, description = "`true` on a repeat."),
            ("Idempotency-Layer" = String, description = "On a repeat, the layer that caught it.")
        )),
        Callers, Bodies, States, Ends, Failures
    ),
    security(("bearer" = []))
)]
pub async fn place(
    app: web::Data<App>,
    request: IdempotentContext<NewOrder>,
) -> Result<HttpResponse> {
    let key = request.key.clone();
    let answer = to_the_end(async move { place_order::place(&app, &request).await }).await?;
    Ok(created(&answer, &key))
}

/// The caller's orders, an operator's all, newest first.
#[utoipa::path(
    get,
    path = "/api/orders",
    operation_id = "list_orders",
    tag = "orders",
    params(ListQuery),
    responses((status = 200, description = "A page.", body = Page<OrderView>), Callers, Queries, Failures),
    security(("bearer" = []))
)]
pub async fn list(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let ListQuery {
        status,
        limit,
        cursor,
    } = query(&request)?;
    let limit = page_length(limit)?;
    let page = manage_orders::list(
        &app,
        &caller.0,
        &Filter {
            status,
            limit,
            cursor,
        },
    )
    .await?;
    Ok(HttpResponse::Ok().json(page))
}

/// The order as it is now.
#[utoipa::path(
    get,
    path = "/api/orders/{id}",
    operation_id = "read_order",
    tag = "orders",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The order.", body = OrderView), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn read(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    let order = manage_orders::read(&app, &caller.0, id.0).await?;
    Ok(versioned(&order, order.version))
}

/// Everything that happened to the order, in order; `archived` says that older entries are not here any more.
#[utoipa::path(
    get,
    path = "/api/orders/{id}/timeline",
    operation_id = "read_timeline",
    tag = "orders",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 200, description = "The history.", body = Timeline), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn timeline(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    let history = manage_orders::history(&app, &caller.0, id.0).await?;
    Ok(HttpResponse::Ok().json(history))
}

/// Replaces the address, until the parcel has left. Without `If-Match` the last arrival wins.
#[utoipa::path(
    put,
    path = "/api/orders/{id}/address",
    operation_id = "change_address",
    tag = "orders",
    request_body = PostalAddress,
    params(
        ("id" = String, Path, description = "The order's id."),
        SeenVersion
    ),
    responses((status = 200, description = "The order.", body = OrderView), Callers, Bodies, Ids, States, Versions, Failures),
    security(("bearer" = []))
)]
pub async fn change_address(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
    seen: SeenVersion,
    address: Body<PostalAddress>,
) -> Result<HttpResponse> {
    let work = async move {
        manage_orders::change_address(&app, &caller.0, id.0, &address.0, seen.0).await
    };
    let order = to_the_end(work).await?;
    Ok(versioned(&order, order.version))
}

/// Closes an order that is not paid; fine when it is closed already.
#[utoipa::path(
    delete,
    path = "/api/orders/{id}",
    operation_id = "cancel_order",
    tag = "orders",
    params(("id" = String, Path, description = "The order's id.")),
    responses((status = 204, description = "Closed."), Callers, Ids, States, Failures),
    security(("bearer" = []))
)]
pub async fn cancel(
    app: web::Data<App>,
    caller: OwnerOrOperator,
    id: Id<OrderId>,
) -> Result<HttpResponse> {
    to_the_end(async move { manage_orders::cancel(&app, &caller.0, id.0).await }).await?;
    Ok(HttpResponse::NoContent().finish())
}

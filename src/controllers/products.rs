//! `/api/products`: the catalogue for all, prices and stock for operators.

use actix_web::{HttpResponse, web};
use entity::ProductId;

use super::answers::{to_the_end, versioned};
use super::body::Body;
use super::callers::Operator;
use super::door::{door, reading};
use super::path::{Id, SeenVersion};
use super::refusals::{Blind, Bodies, Callers, Failures, Ids, Versions};
use crate::app::App;
use crate::error::Result;
use crate::services::api::requests::{ProductOffer, StockQuantity};
use crate::services::api::responses::{List, ProductView, StockView};
use crate::services::catalogue::{products, stock};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/products", "GET, HEAD").route(reading().to(list)))
        .service(
            door("/api/products/{id}", "GET, HEAD, PUT")
                .route(reading().to(read))
                .route(web::put().to(change)),
        )
        .service(
            door("/api/products/{id}/stock", "GET, HEAD, PUT")
                .route(reading().to(read_stock))
                .route(web::put().to(set_stock)),
        );
}

/// The catalogue with what is left of each product.
#[utoipa::path(
    get,
    path = "/api/products",
    operation_id = "list_products",
    tag = "products",
    responses((status = 200, description = "All products.", body = List<ProductView>), Failures)
)]
pub async fn list(app: web::Data<App>) -> Result<HttpResponse> {
    let data = products::list(&app).await?;
    Ok(HttpResponse::Ok().json(List { data }))
}

/// One product.
#[utoipa::path(
    get,
    path = "/api/products/{id}",
    operation_id = "read_product",
    tag = "products",
    params(("id" = String, Path, description = "The product's id.")),
    responses((status = 200, description = "The product.", body = ProductView), Ids, Failures)
)]
pub async fn read(app: web::Data<App>, id: Id<ProductId>) -> Result<HttpResponse> {
    let product = products::read(&app, id.0).await?;
    Ok(versioned(&product, product.version))
}

/// Replaces what a product is offered for. Without `If-Match` the last arrival wins.
#[utoipa::path(
    put,
    path = "/api/products/{id}",
    operation_id = "change_product",
    tag = "products",
    request_body = ProductOffer,
    params(
        ("id" = String, Path, description = "The product's id."),
        SeenVersion
    ),
    responses((status = 200, description = "The product.", body = ProductView), Callers, Bodies, Ids, Versions, Failures),
    security(("bearer" = []))
)]
pub async fn change(
    app: web::Data<App>,
    _operator: Operator,
    id: Id<ProductId>,
    seen: SeenVersion,
    offer: Body<ProductOffer>,
) -> Result<HttpResponse> {
    let work = async move { products::change(&app, id.0, &offer.0, seen.0).await };
    let product = to_the_end(work).await?;
    Ok(versioned(&product, product.version))
}

/// What is left of a product.
#[utoipa::path(
    get,
    path = "/api/products/{id}/stock",
    operation_id = "read_stock",
    tag = "products",
    params(("id" = String, Path, description = "The product's id.")),
    responses((status = 200, description = "The stock.", body = StockView), Callers, Ids, Failures),
    security(("bearer" = []))
)]
pub async fn read_stock(
    app: web::Data<App>,
    _operator: Operator,
    id: Id<ProductId>,
) -> Result<HttpResponse> {
    let stock = stock::read(&app, id.0).await?;
    Ok(versioned(&stock, stock.version))
}

/// Sets what was counted, under the version that was seen; `If-Match` is required for a change.
#[utoipa::path(
    put,
    path = "/api/products/{id}/stock",
    operation_id = "set_stock",
    tag = "products",
    request_body = StockQuantity,
    params(
        ("id" = String, Path, description = "The product's id."),
        SeenVersion
    ),
    responses((status = 200, description = "The stock.", body = StockView), Callers, Bodies, Ids, Versions, Blind, Failures),
    security(("bearer" = []))
)]
pub async fn set_stock(
    app: web::Data<App>,
    _operator: Operator,
    id: Id<ProductId>,
    seen: SeenVersion,
    counted: Body<StockQuantity>,
) -> Result<HttpResponse> {
    let work = async move { stock::set(&app, id.0, &counted.0, seen.0).await };
    let stock = to_the_end(work).await?;
    Ok(versioned(&stock, stock.version))
}

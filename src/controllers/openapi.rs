//! `/openapi.json`, generated from the doors, and `/docs` to browse it without the internet.

use std::sync::Arc;

use actix_web::http::header::{CONTENT_SECURITY_POLICY, ContentEncoding, LOCATION};
use actix_web::{HttpResponse, web};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, openapi};
use utoipa_swagger_ui::Config;

use super::door::{door, reading};
use super::{
    alerts, callbacks, development, failed_messages, health, jobs, loyalty, operations,
    order_tokens, orders, payments, problem, products, refunds, sandbox, shipments,
};
use crate::error::{Error, Result};

/// As for the shop's pages, with the styles and images that the docs write into themselves.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; \
                      object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Order service",
        description = "Any request may come any number of times, at once, in any order: the state \
                       ends as if it had come once. Errors are `application/problem+json` with a \
                       stable `code`.",
        license(name = "MIT", identifier = "MIT")
    ),
    paths(
        order_tokens::issue,
        orders::place,
        orders::list,
        orders::read,
        orders::timeline,
        orders::change_address,
        orders::cancel,
        payments::start,
        payments::list,
        payments::read,
        callbacks::receive,
        refunds::create,
        refunds::list,
        shipments::ship,
        shipments::receive,
        alerts::list,
        alerts::acknowledge,
        failed_messages::list,
        failed_messages::replay,
        jobs::list,
        loyalty::points,
        loyalty::notifications,
        sandbox::look,
        sandbox::press,
        products::list,
        products::read,
        products::change,
        products::read_stock,
        products::set_stock,
        development::mode,
        development::sign_in,
        health::alive,
        health::ready,
        operations::metrics
    ),
    components(schemas(problem::Problem)),
    modifiers(&BearerScheme)
)]
struct Description;

struct BearerScheme;

impl Modify for BearerScheme {
    fn modify(&self, openapi: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("JWT")
            .build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/openapi.json", "GET, HEAD").route(reading().to(description)))
        .service(door("/docs", "GET, HEAD").route(reading().to(to_docs)))
        .service(door("/docs/{file:.*}", "GET, HEAD").route(reading().to(docs)));
}

async fn description() -> HttpResponse {
    HttpResponse::Ok().json(Description::openapi())
}

async fn to_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/docs/"))
        .finish()
}

/// A file of the pages; nothing in them leads to another host.
async fn docs(file: web::Path<String>) -> Result<HttpResponse> {
    let config = Config::from("/openapi.json").validator_url("none");
    let file = utoipa_swagger_ui::serve(&file, Arc::new(config))
        .map_err(|error| Error::Internal(format!("a page of the docs cannot be made: {error}")))?
        .ok_or(Error::NotFound)?;
    let mut response = HttpResponse::Ok();
    response
        .content_type(file.content_type)
        .insert_header((CONTENT_SECURITY_POLICY, POLICY));
    if file.gzpipped {
        response.insert_header(ContentEncoding::Gzip);
    }
    Ok(response.body(file.bytes.into_owned()))
}

//! `/openapi.json`, generated from the doors, and `/docs` to browse it without the internet.

use actix_web::http::header::LOCATION;
use actix_web::{HttpResponse, web};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, openapi};
use utoipa_swagger_ui::SwaggerUi;

use super::{development, door, health, operations, order_tokens, orders, problem, products};

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
        .service(door("/docs").route(web::get().to(to_docs)))
        .service(SwaggerUi::new("/docs/{_:.*}").url("/openapi.json", Description::openapi()));
}

async fn to_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/docs/"))
        .finish()
}

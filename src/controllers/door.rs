//! A door: a path, the methods that it knows, and a refusal for all others.

use actix_web::{HttpResponse, Resource, Route, guard, web};

use crate::error::Error;

/// A resource that knows `methods`; all others are refused with their names.
pub fn door(path: &str, methods: &'static str) -> Resource {
    web::resource(path).default_service(web::to(move || async move {
        Err::<HttpResponse, _>(Error::MethodNotAllowed { allowed: methods })
    }))
}

/// GET, and HEAD, which is answered without the body.
pub fn reading() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

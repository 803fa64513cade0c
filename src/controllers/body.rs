//! Bodies of requests that need no key: JSON of a known shape, checked at once.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use serde::Serialize;
use serde::de::DeserializeOwned;
use validator::Validate;

use crate::error::{Error, Result};
use crate::idempotency::json;
use crate::services::api::requests::checked;

/// A valid body.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Serialize + Validate + 'static> FromRequest for Body<T> {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = json::receive(request, payload);
        Box::pin(async move {
            let body: T = json::parse(&bytes.await?)?;
            checked(&body)?;
            Ok(Self(body))
        })
    }
}

/// Reads a query string of a known shape.
pub fn query<T: DeserializeOwned>(request: &HttpRequest) -> Result<T> {
    web::Query::<T>::from_query(request.query_string())
        .map(web::Query::into_inner)
        .map_err(|error| json::malformed(&error))
}

//! Bodies of requests that need no key: JSON of a known shape, checked at once.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use serde::de::DeserializeOwned;
use validator::Validate;

use crate::error::{Error, Result};
use crate::idempotency::context::{malformed, require_json, unreadable};
use crate::services::commands::checked;

/// A valid body.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Validate + 'static> FromRequest for Body<T> {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let bytes = web::Bytes::from_request(&request, payload);
        Box::pin(async move {
            require_json(&request)?;
            let bytes = bytes.await.map_err(|error| unreadable(&error))?;
            let body: T = serde_json::from_slice(&bytes).map_err(|error| malformed(&error))?;
            checked(&body)?;
            Ok(Self(body))
        })
    }
}

/// Reads a query string of a known shape.
pub fn query<T: DeserializeOwned>(request: &HttpRequest) -> Result<T> {
    web::Query::<T>::from_query(request.query_string())
        .map(web::Query::into_inner)
        .map_err(|error| Error::Malformed(format!("the query string: {error}")))
}

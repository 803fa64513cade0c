//! What stands in the path and in preconditions.

use std::future::{Ready, ready};
use std::str::FromStr;

use actix_web::dev::Payload;
use actix_web::http::header::IF_MATCH;
use actix_web::{FromRequest, HttpRequest};

use crate::error::{Error, Result};

/// The `{id}` of the path; what is no id names nothing.
#[derive(Debug)]
pub struct Id<T>(pub T);

impl<T: FromStr> FromRequest for Id<T> {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request
            .match_info()
            .get("id")
            .and_then(|text| text.parse().ok());
        ready(id.map(Self).ok_or(Error::NotFound))
    }
}

/// The version in `If-Match`: `"7"` or `7`; `*` and no header name none.
#[derive(Debug)]
pub struct SeenVersion(pub Option<i64>);

impl FromRequest for SeenVersion {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(match request.headers().get(IF_MATCH) {
            None => Ok(Self(None)),
            Some(value) => parse(value.to_str().unwrap_or_default().trim()),
        })
    }
}

fn parse(text: &str) -> Result<SeenVersion> {
    if text == "*" {
        return Ok(SeenVersion(None));
    }
    match text.trim_matches('"').parse() {
        Ok(version) => Ok(SeenVersion(Some(version))),
        Err(_) => Err(Error::Malformed(
            "If-Match holds one version, like \"7\"".to_owned(),
        )),
    }
}

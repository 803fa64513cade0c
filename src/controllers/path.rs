//! What stands in the path and in preconditions.

use std::future::{Ready, ready};
use std::str::FromStr;

use actix_web::dev::Payload;
use actix_web::http::header::IF_MATCH;
use actix_web::{FromRequest, HttpRequest};
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

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
        let mut headers = request.headers().get_all(IF_MATCH);
        ready(match (headers.next(), headers.next()) {
            (None, _) => Ok(Self(None)),
            (Some(value), None) => version(value.to_str().unwrap_or_default()),
            _ => Err(not_one_version()),
        })
    }
}

impl IntoParams for SeenVersion {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(r#"^(\*|"(0|[1-9][0-9]{0,17})"|0|[1-9][0-9]{0,17})$"#));
        let parameter = ParameterBuilder::new()
            .name("If-Match")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some("The version that was seen, like `\"3\"`."))
            .schema(Some(schema));
        vec![parameter.build()]
    }
}

fn version(text: &str) -> Result<SeenVersion> {
    if text == "*" {
        return Ok(SeenVersion(None));
    }
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let digits = quoted.unwrap_or(text);
    let version = digits.parse().map_err(|_| not_one_version())?;
    if i64::to_string(&version) == digits {
        Ok(SeenVersion(Some(version)))
    } else {
        Err(not_one_version())
    }
}

fn not_one_version() -> Error {
    Error::Malformed("If-Match holds one version, like \"7\"".to_owned())
}

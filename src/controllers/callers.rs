//! Who comes through a door: one extractor a right.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, web};

use crate::app::App;
use crate::auth::{Caller, Role};
use crate::error::{Error, Result};

impl FromRequest for Caller {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(caller(request))
    }
}

/// The right of a customer.
#[derive(Debug)]
pub struct Customer(pub Caller);

impl FromRequest for Customer {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(with_role(request, &[Role::Customer]).map(Self))
    }
}

/// The right of an operator.
#[derive(Debug)]
pub struct Operator(pub Caller);

impl FromRequest for Operator {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(with_role(request, &[Role::Operator]).map(Self))
    }
}

/// The right to an order: its owner's to his own, an operator's to any.
#[derive(Debug)]
pub struct OwnerOrOperator(pub Caller);

impl FromRequest for OwnerOrOperator {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(with_role(request, &[Role::Customer, Role::Operator]).map(Self))
    }
}

/// The bearer of the request's token.
fn caller(request: &HttpRequest) -> Result<Caller> {
    let app = request
        .app_data::<web::Data<App>>()
        .ok_or(Error::Unauthorized)?;
    let mut headers = request.headers().get_all(AUTHORIZATION);
    // Of two, a proxy may have looked at the other one.
    let (Some(header), None) = (headers.next(), headers.next()) else {
        return Err(Error::Unauthorized);
    };
    let (scheme, token) = header
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or(Error::Unauthorized)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Error::Unauthorized);
    }
    Caller::verify(token.trim(), &app.settings.auth.jwt_secret, app.clock.now())
}

fn with_role(request: &HttpRequest, roles: &[Role]) -> Result<Caller> {
    let caller = caller(request)?;
    if roles.contains(&caller.role) {
        Ok(caller)
    } else {
        Err(Error::Forbidden)
    }
}

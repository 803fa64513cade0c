//! Who is calling: bearer tokens (JWT, HS256) and one extractor a right.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, web};
use chrono::{DateTime, TimeDelta, Utc};
use entity::UserId;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::{Error, Result};

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees and touches only what is his.
    Customer,
    Operator,
    /// A program that orders for customers, with keys of its own.
    Service,
}

impl Role {
    /// The role's name in tokens, records and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Operator => "operator",
            Self::Service => "service",
        }
    }
}

/// The bearer of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub user: UserId,
    pub role: Role,
}

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    sub: String,
    role: Role,
    exp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
}

impl Caller {
    /// A bearer token that names this caller until `expires_at`.
    pub fn sign(&self, secret: &str, expires_at: DateTime<Utc>) -> Result<String> {
        let claims = Claims {
            sub: self.user.as_str().to_owned(),
            role: self.role,
            exp: expires_at.timestamp(),
            nbf: None,
        };
        EncodingKey::from_secret(secret.as_bytes())
            .and_then(|key| jsonwebtoken::encode(&Header::default(), &claims, &key))
            .map_err(|error| Error::Internal(format!("a bearer token cannot be signed: {error}")))
    }

    /// Who `token` names, when it was signed with `secret` and `now` lies in its life.
    pub fn verify(token: &str, secret: &str, now: DateTime<Utc>) -> Result<Self> {
        let mut validation = Validation::new(Algorithm::HS256);
        // Its life is compared below, by the application's clock.
        validation.validate_exp = false;
        let claims = DecodingKey::from_secret(secret.as_bytes())
            .and_then(|key| jsonwebtoken::decode::<Claims>(token, &key, &validation))
            .map_err(|_| Error::Unauthorized)?
            .claims;
        let now = now.timestamp();
        if claims.exp <= now || claims.nbf.is_some_and(|start| now < start) {
            return Err(Error::Unauthorized);
        }
        let user = UserId::parse(claims.sub).ok_or(Error::Unauthorized)?;
        Ok(Self {
            user,
            role: claims.role,
        })
    }

    /// Until when a token of the development sign-in lives.
    pub fn development_expiry(app: &App) -> DateTime<Utc> {
        let ttl = app.settings.auth.dev_token_ttl;
        app.clock.now() + TimeDelta::from_std(ttl).unwrap_or(TimeDelta::hours(1))
    }

    fn of(request: &HttpRequest) -> Result<Self> {
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
        Self::verify(token.trim(), &app.settings.auth.jwt_secret, app.clock.now())
    }

    fn with_role(request: &HttpRequest, roles: &[Role]) -> Result<Self> {
        let caller = Self::of(request)?;
        if roles.contains(&caller.role) {
            Ok(caller)
        } else {
            Err(Error::Forbidden)
        }
    }
}

impl FromRequest for Caller {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::of(request))
    }
}

/// The right of a customer.
#[derive(Debug)]
pub struct Customer(pub Caller);

impl FromRequest for Customer {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Caller::with_role(request, &[Role::Customer]).map(Self))
    }
}

/// The right of an operator.
#[derive(Debug)]
pub struct Operator(pub Caller);

impl FromRequest for Operator {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Caller::with_role(request, &[Role::Operator]).map(Self))
    }
}

/// The right to an order: its owner's to his own, an operator's to any.
#[derive(Debug)]
pub struct OwnerOrOperator(pub Caller);

impl FromRequest for OwnerOrOperator {
    type Error = Error;
    type Future = Ready<Result<Self>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Caller::with_role(request, &[Role::Customer, Role::Operator]).map(Self))
    }
}

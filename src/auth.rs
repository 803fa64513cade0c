//! Who is calling: bearer tokens (JWT, HS256).

use chrono::{DateTime, Utc};
use entity::UserId;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

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
}

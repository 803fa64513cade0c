//! `/api/dev`: signing in as anybody. The doors exist only where the settings open them.

use actix_web::{HttpResponse, web};
use entity::UserId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use super::body::Body;
use super::door::{door, reading};
use super::refusals::Bodies;
use crate::app::App;
use crate::auth::{Caller, Role};
use crate::error::{Error, Result};

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(door("/api/dev", "GET, HEAD").route(reading().to(mode)))
        .service(door("/api/dev/sign-in", "POST").route(web::post().to(sign_in)));
}

/// That this is a development server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Mode {
    development: bool,
}

/// Whom to be.
#[derive(Debug, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    #[schema(min_length = 1, max_length = 64)]
    user_id: String,
    role: Role,
}

/// A bearer token.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignedIn {
    access_token: String,
}

/// Whether this is a development server; in production there is nothing here.
#[utoipa::path(
    get,
    path = "/api/dev",
    operation_id = "development",
    tag = "development",
    responses((status = 200, description = "It is.", body = Mode))
)]
pub async fn mode() -> HttpResponse {
    HttpResponse::Ok().json(Mode { development: true })
}

/// A bearer token for anybody, in development.
#[utoipa::path(
    post,
    path = "/api/dev/sign-in",
    operation_id = "sign_in",
    tag = "development",
    request_body = SignIn,
    responses((status = 200, description = "A token.", body = SignedIn), Bodies)
)]
pub async fn sign_in(app: web::Data<App>, body: Body<SignIn>) -> Result<HttpResponse> {
    let SignIn { user_id, role } = body.0;
    let user = UserId::parse(user_id).ok_or_else(|| {
        Error::invalid(
            "user_id",
            "is text of 1 to 64 bytes without control characters",
        )
    })?;
    let expires_at = app.development_sign_in_ends();
    let access_token = Caller { user, role }.sign(&app.settings.auth.jwt_secret, expires_at)?;
    Ok(HttpResponse::Ok().json(SignedIn { access_token }))
}

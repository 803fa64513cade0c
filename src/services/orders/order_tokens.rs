//! Issuing order tokens, without any I/O: the server knows its own tokens by their signature.

use chrono::TimeDelta;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::idempotency::token::OrderToken;

/// The right to create one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct IssuedToken {
    /// Send it as `Idempotency-Key` of the creation, and of every repeat of it.
    #[schema(example = "ot_AAAB…")]
    pub token: String,
    /// From then on the token creates no order; a repeat is still answered with the order that it created.
    pub expires_at: DateTime<Utc>,
}

/// A token for `caller`, with the id that his order will have.
pub async fn issue(app: &App, caller: &Caller) -> Result<IssuedToken> {
    let order_id = app.ids.mint().await?;
    let life = TimeDelta::from_std(app.settings.token.ttl).unwrap_or(TimeDelta::minutes(30));
    let expires_at = app.clock.now() + life;
    let token = OrderToken {
        order_id,
        expires_at,
    };
    let text = token.sign(app.settings.token.secret.as_bytes(), &caller.user);
    Ok(IssuedToken {
        token: text,
        expires_at,
    })
}

//! Notifications to customers about their orders: rows without words, which the page shows in the customer's language.

use chrono::{DateTime, Utc};
use entity::{OrderId, notification};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Caller;
use crate::database::{OnDuplicate, Transaction};
use crate::error::{Error, Result};
use crate::events::Message;
use crate::repositories;
use crate::repositories::order::Whose;
use crate::services::api::responses::Page;

/// The fields that a notification copies from its event: nothing personal or internal.
const TOLD: [&str; 2] = ["amount", "carrier"];

/// What a customer was told.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NotificationView {
    pub id: String,
    #[schema(value_type = String)]
    pub order_id: OrderId,
    /// The type of the event, like `OrderPaid`; the client has the words for it.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What the words need: `amount` in minor units of `currency`, `carrier`.
    #[schema(value_type = Object)]
    pub payload: Value,
    /// When it happened.
    pub created_at: DateTime<Utc>,
}

/// Inserts the notification of an event for the order's customer.
pub async fn tell(tx: &Transaction, message: &Message) -> Result<()> {
    let order = repositories::order::find_alone(tx, message.order_id, Whose::Anybodys).await?;
    let order = order.ok_or_else(|| Error::Internal("an event of no order".to_owned()))?;
    let mut payload = json!({ "currency": order.currency });
    for name in TOLD {
        if let Some(value) = message.payload.get(name) {
            payload[name] = value.clone();
        }
    }
    let row = notification::Model {
        id: 0,
        user_id: order.user_id,
        biz_key: message.biz_key(),
        order_id: order.id,
        event_id: message.event_id,
        kind: message.kind.clone(),
        payload,
        created_at: message.created_at,
    };
    repositories::notification::insert(tx, row)
        .await
        .on_duplicate("uk_notification", Error::ActedOn)
}

/// A page of what the caller was told, newest first.
pub async fn list(
    app: &App,
    caller: &Caller,
    before: i64,
    limit: u64,
) -> Result<Page<NotificationView>> {
    let db = app.db.read();
    let told = repositories::notification::list(db, &caller.user, before, limit + 1).await?;
    Ok(Page::cut(told, limit, |told| told.event_id.to_string()).map(NotificationView::from))
}

impl From<notification::Model> for NotificationView {
    fn from(told: notification::Model) -> Self {
        Self {
            id: told.id.to_string(),
            order_id: told.order_id,
            event_type: told.kind,
            payload: told.payload,
            created_at: told.created_at,
        }
    }
}

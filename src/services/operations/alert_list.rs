//! Alerts as operators see them.

use chrono::{DateTime, Utc};
use entity::{OrderId, alert};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{Error, Result};
use crate::repositories;

/// How many alerts a list shows.
const SHOWN: u64 = 200;

/// An alert as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AlertView {
    pub id: String,
    pub kind: String,
    /// What it is about: a payment, a refund, an event.
    pub subject: String,
    #[schema(value_type = Option<String>)]
    pub order_id: Option<OrderId>,
    pub detail: String,
    pub created_at: DateTime<Utc>,
    pub acknowledged_at: Option<DateTime<Utc>>,
}

/// The newest alerts; those that nobody has acknowledged come first.
pub async fn list(app: &App) -> Result<Vec<AlertView>> {
    let alerts = repositories::alert::list(app.db.read(), SHOWN).await?;
    Ok(alerts.into_iter().map(AlertView::from).collect())
}

/// Notes that an operator saw the alert; a second time changes nothing.
pub async fn acknowledge(app: &App, id: i64) -> Result<AlertView> {
    repositories::alert::acknowledge(app.db.write(), id, app.clock.now()).await?;
    let alert = repositories::alert::find(app.db.write(), id).await?;
    alert.map(AlertView::from).ok_or(Error::NotFound)
}

impl From<alert::Model> for AlertView {
    fn from(alert: alert::Model) -> Self {
        Self {
            id: alert.id.to_string(),
            kind: alert.kind,
            subject: alert.subject,
            order_id: (alert.order_id.0 != 0).then_some(alert.order_id),
            detail: alert.detail,
            created_at: alert.created_at,
            acknowledged_at: alert.acknowledged_at,
        }
    }
}

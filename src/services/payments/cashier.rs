//! The sandbox gateway's cashier page, which only a development server has: what it shows and what its buttons do.

use chrono::{DateTime, Utc};
use entity::sandbox_payment::Standing;
use entity::{OrderId, PaymentId, sandbox_message, sandbox_payment};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use crate::app::App;
use crate::error::{Error, Result};
use crate::gateways::sandbox::cashier::{Action, Declined};
use crate::gateways::sandbox::delivery::webhook_id;
use crate::repositories;
use crate::repositories::order::Whose;

/// A button that was pressed.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pressed {
    pub action: Action,
}

/// An attempt as the sandbox knows it, with its log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CashierView {
    #[schema(value_type = String)]
    pub payment_id: PaymentId,
    #[schema(value_type = String)]
    pub order_id: OrderId,
    pub amount: i64,
    pub currency: String,
    #[schema(value_type = String)]
    pub status: Standing,
    pub trade_no: Option<String>,
    pub refunded_amount: i64,
    pub messages: Vec<MessageView>,
}

/// One message and every answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MessageView {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub amount: i64,
    pub created_at: DateTime<Utc>,
    /// False for the one that was signed wrongly on purpose.
    pub signed: bool,
    pub attempts: i32,
    pub next_attempt_at: Option<DateTime<Utc>>,
    #[schema(value_type = Vec<Object>)]
    pub deliveries: serde_json::Value,
}

pub async fn look(app: &App, id: PaymentId) -> Result<CashierView> {
    match app.sandbox()?.look(id).await {
        Ok((payment, messages)) => Ok(view(payment, messages)),
        Err(declined) => Err(meaning(app, id, declined).await),
    }
}

/// Does what the button says and delivers what is due.
pub async fn press(app: &App, id: PaymentId, action: Action) -> Result<CashierView> {
    match app.sandbox()?.act(id, action).await {
        Ok(()) => look(app, id).await,
        Err(declined) => Err(meaning(app, id, declined).await),
    }
}

/// Delivers the sandbox's messages that are due.
pub async fn deliver_due(app: &App) -> Result<()> {
    match app.sandbox() {
        Ok(sandbox) => Ok(sandbox.deliver_due().await.map(|_| ())?),
        Err(_) => Ok(()),
    }
}

async fn meaning(app: &App, id: PaymentId, declined: Declined) -> Error {
    match declined {
        Declined::Unknown => Error::NotFound,
        Declined::Memory(error) => error.into(),
        Declined::NotNow => match order_status(app, id).await {
            Ok(status) => Error::StateConflict { status },
            Err(error) => error,
        },
    }
}

async fn order_status(app: &App, id: PaymentId) -> Result<entity::order::OrderStatus> {
    let db = app.db.read();
    let payment = repositories::payment::find(db, id)
        .await?
        .ok_or(Error::NotFound)?;
    let order = repositories::order::find_alone(db, payment.order_id, Whose::Anybodys).await?;
    order.map(|order| order.status).ok_or(Error::NotFound)
}

fn view(payment: sandbox_payment::Model, messages: Vec<sandbox_message::Model>) -> CashierView {
    CashierView {
        payment_id: payment.payment_id,
        order_id: payment.order_id,
        amount: payment.amount,
        currency: payment.currency,
        status: payment.status,
        trade_no: (!payment.trade_no.is_empty()).then_some(payment.trade_no),
        refunded_amount: payment.refunded_amount,
        messages: messages.into_iter().map(MessageView::from).collect(),
    }
}

impl From<sandbox_message::Model> for MessageView {
    fn from(message: sandbox_message::Model) -> Self {
        Self {
            id: webhook_id(&message),
            kind: message.kind,
            amount: message.amount,
            created_at: message.created_at,
            signed: !message.forged,
            attempts: message.attempts,
            next_attempt_at: message.next_attempt_at,
            deliveries: message.deliveries,
        }
    }
}

//! Bodies of payment attempts: what buyers send to start one, and how they see it.

use chrono::{DateTime, Utc};
use entity::payment::{self, PaymentStatus, Role};
use entity::{OrderId, PaymentId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use super::schema;
use crate::auth::{Caller, Role as CallerRole};
use crate::error::{Error, Result};
use crate::gateways::KNOWN;
use crate::idempotency::Command;

/// An attempt that a buyer wants to make.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPayment {
    /// The name of a payment gateway.
    #[schema(schema_with = schema::gateway)]
    pub gateway: String,
    /// For callers that cannot set headers; the header `Idempotency-Key` wins.
    #[serde(default, skip_serializing)]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}

impl Command for NewPayment {
    const OPERATION: &'static str = "start_payment";
    const KEY_REQUIRED: bool = false;
    const ROLES: &'static [CallerRole] = &[CallerRole::Customer, CallerRole::Operator];

    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn check(&self, _: &Caller) -> Result<()> {
        if KNOWN.contains(&self.gateway.as_str()) {
            return Ok(());
        }
        let known = KNOWN.join(", ");
        Err(Error::invalid(
            "gateway",
            format!("names no payment gateway; there is: {known}"),
        ))
    }
}

/// An attempt as its buyer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PaymentView {
    #[schema(value_type = String)]
    pub id: PaymentId,
    #[schema(value_type = String)]
    pub order_id: OrderId,
    pub gateway: String,
    #[schema(value_type = String)]
    pub status: PaymentStatus,
    #[schema(value_type = String)]
    pub role: Role,
    /// In minor units of `currency`.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// Reserved by refunds that have not failed, in minor units.
    pub refunded_amount: i64,
    /// Where to pay.
    pub checkout_url: Option<String>,
    pub close_requested_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub succeeded_at: Option<DateTime<Utc>>,
}

impl From<payment::Model> for PaymentView {
    fn from(payment: payment::Model) -> Self {
        Self {
            id: payment.id,
            order_id: payment.order_id,
            gateway: payment.gateway,
            status: payment.status,
            role: payment.role,
            amount: payment.amount,
            currency: payment.currency,
            refunded_amount: payment.refunded_amount,
            checkout_url: (!payment.checkout_url.is_empty()).then_some(payment.checkout_url),
            close_requested_at: payment.close_requested_at,
            created_at: payment.created_at,
            expires_at: payment.expires_at,
            succeeded_at: payment.succeeded_at,
        }
    }
}

//! Bodies of refunds: what the shop sends to ask for one, and how shop and customer see it.

use chrono::{DateTime, Utc};
use entity::refund::{self, Origin, RefundStatus};
use entity::{PaymentId, RefundId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use super::requests::checked;
use crate::auth::{Caller, Role};
use crate::error::{Error, Result};
use crate::idempotency::Command;

/// Money that the shop wants to give back.
#[derive(Debug, Clone, Serialize, Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// In minor units; without it, all that is left of the payment is refunded.
    #[validate(range(min = 1, max = 1_000_000_000_000_i64, message = "is at least 1"))]
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub amount: Option<i64>,
    #[validate(length(min = 1, max = 200, message = "is 1 to 200 characters"))]
    #[schema(min_length = 1, max_length = 200)]
    pub reason: String,
    /// Which payment to refund; without it, the one that paid for the order.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub payment_id: Option<PaymentId>,
    /// For callers that cannot set headers; the header `Idempotency-Key` wins.
    #[serde(default, skip_serializing)]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}

impl Command for NewRefund {
    const OPERATION: &'static str = "create_refund";
    const KEY_REQUIRED: bool = true;
    const ROLES: &'static [Role] = &[Role::Operator, Role::Service];

    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn check(&self, _: &Caller) -> Result<()> {
        checked(self)?;
        if self.reason.chars().any(char::is_control) {
            return Err(Error::invalid("reason", "holds control characters"));
        }
        Ok(())
    }
}

/// A refund as shop and customer see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RefundView {
    #[schema(value_type = String)]
    pub id: RefundId,
    /// The gateway knows it by this number.
    pub refund_no: String,
    #[schema(value_type = String)]
    pub payment_id: PaymentId,
    /// In minor units of `currency`.
    pub amount: i64,
    pub currency: String,
    pub reason: String,
    #[schema(value_type = String)]
    pub status: RefundStatus,
    #[schema(value_type = String)]
    pub origin: Origin,
    pub created_at: DateTime<Utc>,
    pub settled_at: Option<DateTime<Utc>>,
}

impl From<refund::Model> for RefundView {
    fn from(refund: refund::Model) -> Self {
        Self {
            id: refund.id,
            refund_no: refund.refund_no,
            payment_id: refund.payment_id,
            amount: refund.amount,
            currency: refund.currency,
            reason: refund.reason,
            status: refund.status,
            origin: refund.origin,
            created_at: refund.created_at,
            settled_at: refund.settled_at,
        }
    }
}

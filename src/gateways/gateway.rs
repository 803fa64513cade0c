//! What every payment provider must be able to do.

use actix_web::http::header::HeaderMap;
use chrono::{DateTime, Utc};
use entity::{payment, refund};
use sea_orm::prelude::async_trait::async_trait;

use crate::domain::gateway_message::GatewayMessage;

/// Why a delivery was not taken in; nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejected {
    /// Not signed by the gateway, or signed too long ago.
    Forged,
    /// Signed, and no message of its format.
    Malformed,
}

/// The gateway did not say: unknown, never "no".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence;

/// What a gateway says of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Paid {
        trade_no: String,
        amount: i64,
        currency: String,
        paid_at: DateTime<Utc>,
    },
    Closed,
    Open,
    NotFound,
}

/// What a gateway says of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundStanding {
    Succeeded,
    /// Its final word.
    Failed,
    Processing,
}

/// The words of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    pub status: u16,
    pub content_type: &'static str,
    pub body: &'static str,
}

/// A payment provider. Every call is keyed by our own ids, so a repeat changes nothing there.
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Verifies the signature over the raw bytes, then reads the message out of them.
    fn verify(
        &self,
        headers: &HeaderMap,
        raw: &[u8],
        now: DateTime<Utc>,
    ) -> Result<GatewayMessage, Rejected>;

    /// Lets the buyer pay; tells where.
    async fn open(&self, attempt: &payment::Model) -> Result<String, Silence>;

    /// Asks how an attempt stands.
    async fn query(&self, attempt: &payment::Model) -> Result<Standing, Silence>;

    /// Ends an attempt; refused when it is paid, which the answer says.
    async fn close(&self, attempt: &payment::Model) -> Result<Standing, Silence>;

    /// Gives money back under the refund's number, or tells how that number stands.
    async fn refund(
        &self,
        attempt: &payment::Model,
        refund: &refund::Model,
    ) -> Result<RefundStanding, Silence>;

    /// What it wants to hear when a message is durably taken in.
    fn success(&self) -> Words;

    /// What makes it come again.
    fn failure(&self) -> Words;

    /// What a rejected delivery hears.
    fn rejection(&self, reason: Rejected) -> Words;
}

//! What every payment provider must be able to do.

use std::future::Future;

use actix_web::http::header::HeaderMap;
use chrono::{DateTime, Utc};
use entity::{payment, refund};

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
pub trait PaymentGateway {
    /// The name in paths and tables.
    const NAME: &'static str;

    /// Verifies the signature over the raw bytes, then reads the message out of them.
    fn verify(
        &self,
        headers: &HeaderMap,
        raw: &[u8],
        now: DateTime<Utc>,
    ) -> Result<GatewayMessage, Rejected>;

    /// Lets the buyer pay; tells where.
    fn open(
        &self,
        attempt: &payment::Model,
    ) -> impl Future<Output = Result<String, Silence>> + Send;

    /// Asks how an attempt stands.
    fn query(
        &self,
        attempt: &payment::Model,
    ) -> impl Future<Output = Result<Standing, Silence>> + Send;

    /// Ends an attempt; refused when it is paid, which the answer says.
    fn close(
        &self,
        attempt: &payment::Model,
    ) -> impl Future<Output = Result<Standing, Silence>> + Send;

    /// Gives money back under the refund's number, or tells how that number stands.
    fn refund(
        &self,
        attempt: &payment::Model,
        refund: &refund::Model,
    ) -> impl Future<Output = Result<RefundStanding, Silence>> + Send;

    /// What it wants to hear when a message is durably taken in.
    fn success(&self) -> Words;

    /// What makes it come again.
    fn failure(&self) -> Words;

    /// What a rejected delivery hears.
    fn rejection(&self, reason: Rejected) -> Words;
}

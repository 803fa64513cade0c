//! The sandbox gateway: Standard Webhooks messages over real HTTP, a memory of its own, a cashier.

pub mod cashier;
pub mod delivery;
mod memory;
pub mod signature;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::header::HeaderMap;
use chrono::{DateTime, Utc};
use entity::payment_callback::Kind;
use entity::{OrderId, PaymentId, payment, refund, sandbox_payment};
use sea_orm::prelude::async_trait::async_trait;
use serde::Deserialize;

use super::gateway::{PaymentGateway, RefundStanding, Rejected, Silence, Standing, Words};
use crate::clock::Clock;
use crate::database::Database;
use crate::domain::gateway_message::GatewayMessage;

const JSON: &str = "application/json";

/// One sandbox a process; its memory is in the database, so a restart forgets nothing.
#[derive(Debug)]
pub struct Sandbox {
    secret: Vec<u8>,
    db: Database,
    clock: Clock,
    http: reqwest::Client,
    /// Where the shop listens, once it does.
    shop: OnceLock<String>,
    silent: AtomicBool,
}

/// The message's body.
#[derive(Debug, Deserialize)]
struct Body {
    #[serde(rename = "type")]
    kind: String,
    timestamp: DateTime<Utc>,
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    payment_id: PaymentId,
    #[serde(default)]
    order_id: Option<OrderId>,
    #[serde(default)]
    trade_no: String,
    #[serde(default)]
    refund_no: String,
    amount: i64,
    currency: String,
}

impl Sandbox {
    /// Its name in paths and tables.
    pub const NAME: &'static str = "sandbox";

    /// `secret` reads `whsec_` and base64; `None` when it does not.
    pub fn new(secret: &str, db: Database, clock: Clock) -> Option<Self> {
        let secret = signature::key(secret)?;
        let http = reqwest::Client::builder()
            .timeout(std::time::Duration::from_secs(10))
            .build()
            .ok()?;
        let (shop, silent) = (OnceLock::new(), AtomicBool::new(false));
        Some(Self {
            secret,
            db,
            clock,
            http,
            shop,
            silent,
        })
    }

    /// Where its messages go, like `http://127.0.0.1:8080`; the first call counts.
    pub fn deliver_to(&self, shop: &str) {
        let _ = self.shop.set(shop.to_owned());
    }

    /// From now on it answers nothing (or again), as a gateway in trouble does.
    pub fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }

    fn speaks(&self) -> Result<(), Silence> {
        if self.silent.load(Ordering::SeqCst) {
            Err(Silence)
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl PaymentGateway for Sandbox {
    fn verify(
        &self,
        headers: &HeaderMap,
        raw: &[u8],
        now: DateTime<Utc>,
    ) -> Result<GatewayMessage, Rejected> {
        let event_id = signature::verify(headers, raw, &self.secret, now)?;
        let kind = headers
            .get("content-type")
            .and_then(|value| value.to_str().ok());
        if !kind.is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with(JSON)) {
            return Err(Rejected::Malformed);
        }
        let body: Body = serde_json::from_slice(raw).map_err(|_| Rejected::Malformed)?;
        let raw = String::from_utf8(raw.to_vec()).map_err(|_| Rejected::Malformed)?;
        message(event_id, body, raw)
    }

    async fn open(&self, attempt: &payment::Model) -> Result<String, Silence> {
        self.speaks()?;
        memory::remember(self.db.write(), attempt).await?;
        Ok(format!("/cashier.html?payment={}", attempt.id))
    }

    async fn query(&self, attempt: &payment::Model) -> Result<Standing, Silence> {
        self.speaks()?;
        let found = memory::find(self.db.write(), attempt.id).await?;
        Ok(found.map_or(Standing::NotFound, |payment| {
            standing(payment, self.clock.now())
        }))
    }

    async fn close(&self, attempt: &payment::Model) -> Result<Standing, Silence> {
        self.speaks()?;
        memory::close(self.db.write(), attempt.id).await?;
        self.query(attempt).await
    }

    async fn refund(
        &self,
        attempt: &payment::Model,
        refund: &refund::Model,
    ) -> Result<RefundStanding, Silence> {
        self.speaks()?;
        memory::refund(&self.db, attempt.id, &refund.refund_no, refund.amount).await
    }

    fn success(&self) -> Words {
        Words {
            status: 200,
            content_type: JSON,
            body: r#"{"code":"SUCCESS"}"#,
        }
    }

    fn failure(&self) -> Words {
        Words {
            status: 503,
            content_type: JSON,
            body: r#"{"code":"FAIL"}"#,
        }
    }

    fn rejection(&self, reason: Rejected) -> Words {
        let status = match reason {
            Rejected::Forged => 401,
            Rejected::Malformed => 400,
        };
        Words {
            status,
            content_type: JSON,
            body: r#"{"code":"FAIL"}"#,
        }
    }
}

fn standing(payment: sandbox_payment::Model, now: DateTime<Utc>) -> Standing {
    match payment.status {
        sandbox_payment::Standing::Paid => Standing::Paid {
            trade_no: payment.trade_no,
            amount: payment.amount,
            currency: payment.currency,
            paid_at: payment.paid_at.unwrap_or(now),
        },
        sandbox_payment::Standing::Open if now < payment.expires_at => Standing::Open,
        sandbox_payment::Standing::Open | sandbox_payment::Standing::Closed => Standing::Closed,
    }
}

fn message(event_id: String, body: Body, raw: String) -> Result<GatewayMessage, Rejected> {
    let kind = match body.kind.as_str() {
        "payment.succeeded" => Kind::Paid,
        "payment.closed" => Kind::Closed,
        "payment.failed" => Kind::Failed,
        "refund.succeeded" => Kind::RefundSucceeded,
        "refund.failed" => Kind::RefundFailed,
        _ => Kind::Ignored,
    };
    let Data {
        payment_id,
        order_id,
        trade_no,
        refund_no,
        amount,
        currency,
    } = body.data;
    let about_refund = matches!(kind, Kind::RefundSucceeded | Kind::RefundFailed);
    let numbers = is_number(&trade_no) && is_number(&refund_no);
    let named =
        (kind != Kind::Paid || !trade_no.is_empty()) && (!about_refund || !refund_no.is_empty());
    if !numbers || !named || amount < 0 || currency.len() != 3 {
        return Err(Rejected::Malformed);
    }
    Ok(GatewayMessage {
        gateway: Sandbox::NAME.to_owned(),
        event_id,
        kind,
        payment_id,
        order_id,
        trade_no,
        refund_no,
        amount,
        currency,
        event_time: body.timestamp,
        raw,
    })
}

/// What may become part of a key: visible ASCII, at most 64, perhaps nothing.
fn is_number(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic())
}

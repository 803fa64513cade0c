//! The tables as SeaORM models, and the types of their columns.

pub mod address;
pub mod alert;
pub mod archive_directory;
pub mod archive_file;
pub mod idempotency_record;
pub mod ids;
pub mod job_run;
pub mod lease;
pub mod message_consume_log;
pub mod message_failure;
pub mod notification;
pub mod order;
pub mod order_event;
pub mod order_item;
pub mod payment;
pub mod payment_callback;
pub mod points_account;
pub mod points_ledger;
pub mod product;
pub mod refund;
pub mod sandbox_message;
pub mod sandbox_payment;
pub mod sandbox_refund;
pub mod stock;
pub mod stock_ledger;
pub mod user_id;

pub use address::Address;
pub use ids::{OrderId, PaymentId, ProductId, RefundId};
pub use user_id::UserId;

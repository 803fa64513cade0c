//! SQL, one file a table. A read takes any connection; what must be atomic takes a transaction.

pub mod alert;
pub mod archive_file;
pub mod audit;
mod due;
pub mod idempotency_record;
pub mod job_run;
mod json_line;
pub mod lease;
pub mod message_consume_log;
pub mod message_failure;
pub mod notification;
pub mod old_rows;
pub mod order;
pub mod order_event;
pub mod order_item;
pub mod payment;
pub mod payment_callback;
pub mod points;
pub mod product;
pub mod refund;
mod rows;
pub mod stock;
pub mod stock_ledger;

//! The tables as SeaORM models, and the types of their columns.

pub mod address;
pub mod idempotency_record;
pub mod ids;
pub mod lease;
pub mod order;
pub mod order_event;
pub mod order_item;
pub mod product;
pub mod stock;
pub mod stock_ledger;
pub mod user_id;

pub use address::Address;
pub use ids::{OrderId, ProductId};
pub use user_id::UserId;

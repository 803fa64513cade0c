//! The database: connections that are lent, transactions that are run again when they may be, and what its errors mean.

mod bulkhead;
mod connect;
mod failure;
mod handle;
mod health;
mod lent;
pub mod migrate;
mod pool;
mod probe;
mod renewal;
mod retry;
mod single;
mod sqlite_file;
mod transaction;
mod trouble;
mod watch;

pub use connect::Access;
pub use failure::{Failure, OnDuplicate, is_key, late};
pub use handle::Database;
pub use retry::Refusal;
pub use single::Single;
pub use transaction::Transaction;
pub use trouble::Trouble;

//! The database: connection pools, transactions that are retried where that is safe, and what the errors mean.
//!
//! Read in this order:
//! 1. `handle`: [`Database`], which everything that needs the database is given; `connect` opens its pools
//! 2. `retry`: runs a transaction, again as a whole after a deadlock or a lost connection; `transaction` is one try
//! 3. `bulkhead`: bounds how many transactions run at once; `single`: statements without a transaction
//! 4. `pool` and `lent`: lend one connection and take it back only when it is clean; `health`, `renewal` and
//!    `sqlite_file` say which connections must not be lent again
//! 5. `failure`: what an error means; `watch`, `trouble` and `probe`: what is wrong with the database now
//! 6. [`migrate`]: the schema

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

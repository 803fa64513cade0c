//! Products and their stock.
//!
//! - [`products`]: names and prices, which anybody may read and operators may change
//! - [`stock`]: `take` and `restore` belong to an order's transaction; `set` is an operator's stock count
//! - [`seed`]: fills an empty catalogue with six products, for development
//!
//! Every change of a stock has its row in the stock ledger, written in the same transaction; the ledger's unique key
//! refuses to book the same change twice. Begin with [`stock`].

pub mod products;
pub mod seed;
pub mod stock;

//! What tests stand on: a shop of their own, its customers, servers that may be killed.

pub mod archived;
pub mod bench;
pub mod binary;
pub mod client;
pub mod disk_faults;
pub mod doors;
pub mod entrance;
pub mod events;
pub mod faults;
pub mod gateway;
pub mod mariadb_server;
pub mod place;
pub mod proxy;
pub mod rabbitmq_server;
pub mod redis_server;
mod server_process;
pub mod shop;
pub mod sql_proxy;

pub use client::{Client, Reply, order};
pub use shop::Shop;

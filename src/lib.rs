//! An order service that ends in the same state however often, in whatever order and wherever it is asked.
//!
//! `ARCHITECTURE.md` is the map.

pub mod app;
pub mod auth;
pub mod clock;
pub mod consumers;
pub mod controllers;
pub mod database;
pub mod deadline;
pub mod domain;
pub mod error;
pub mod events;
pub mod files;
pub mod gateways;
pub mod idempotency;
pub mod instance;
pub mod jobs;
pub mod metrics;
pub mod repositories;
pub mod server;
pub mod services;
pub mod settings;

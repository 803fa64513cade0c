//! The schema's steps, forward and back, on `SQLite` and `MySQL`. A step is never edited once it has landed.

pub use sea_orm_migration::prelude::{MigrationTrait, MigratorTrait, async_trait};

mod columns;
mod m20261201_000001_catalogue;
mod m20261201_000002_orders;
mod m20261201_000003_idempotency;
mod m20261201_000004_payments;
mod m20261201_000005_sandbox;
mod m20261201_000006_events;
mod m20261201_000007_time;

/// All steps in their order.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261201_000001_catalogue::Migration),
            Box::new(m20261201_000002_orders::Migration),
            Box::new(m20261201_000003_idempotency::Migration),
            Box::new(m20261201_000004_payments::Migration),
            Box::new(m20261201_000005_sandbox::Migration),
            Box::new(m20261201_000006_events::Migration),
            Box::new(m20261201_000007_time::Migration),
        ]
    }
}

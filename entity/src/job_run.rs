//! When a job ran, where, and with what result: one row a planned run, so that each runs once.

use sea_orm::entity::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "job_run")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub job: String,
    /// When it was to run.
    pub scheduled_at: DateTimeUtc,
    /// Who ran it.
    pub instance: String,
    pub started_at: DateTimeUtc,
    /// `None` while it runs, and for ever when it was killed.
    pub finished_at: Option<DateTimeUtc>,
    pub outcome: String,
    /// What it did, or why it could not, in a sentence.
    pub done: String,
}

#[derive(Debug, Clone, Copy, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

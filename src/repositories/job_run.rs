//! `job_run`: when jobs ran, one row a planned run.

use entity::job_run::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use super::rows;

/// What a run says of itself before it has ended.
pub const RUNNING: &str = "RUNNING";

/// Inserts and returns the id; a violation of `uk_job_run` means that another instance ran it.
pub async fn insert(db: &impl ConnectionTrait, run: Model) -> Result<i64, DbErr> {
    rows::insert::<ActiveModel, _>(db, run).await
}

/// Writes how a run ended.
pub async fn finish(db: &impl ConnectionTrait, run: &Model) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Outcome, Expr::value(run.outcome.as_str()))
        .col_expr(Column::Done, Expr::value(run.done.as_str()))
        .col_expr(Column::FinishedAt, Expr::value(run.finished_at))
        .filter(Column::Id.eq(run.id))
        .exec(db)
        .await?;
    Ok(())
}

/// Runs that never told their end; the caller holds the job's lease, so none of them runs.
pub async fn abandon(db: &impl ConnectionTrait, job: &str, outcome: &str) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Outcome, Expr::value(outcome))
        .filter(Column::Job.eq(job))
        .filter(Column::Outcome.eq(RUNNING))
        .exec(db)
        .await?;
    Ok(())
}

/// The newest `limit` runs of a job, newest first.
pub async fn newest(db: &impl ConnectionTrait, job: &str, limit: u64) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::Job.eq(job))
        .order_by_desc(Column::Id)
        .limit(limit)
        .all(db)
        .await
}

/// Forgets a job's runs up to this one.
pub async fn forget(db: &impl ConnectionTrait, job: &str, up_to: i64) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::Job.eq(job))
        .filter(Column::Id.lte(up_to))
        .exec(db)
        .await?;
    Ok(())
}

//! Giving up a file whose rows are all still in their table.

use entity::archive_file::{Model, State};

use super::run::{Run, blocking};
use crate::error::Result;
use crate::repositories::archive_file;

/// Forgets a file whose rows are all in the table. From the first step on its writer, should it only
/// have been paused, cannot go on; as long as its row is there the file is not forgotten. False when
/// somebody else moved it on.
pub async fn give_up(run: &Run<'_>, file: &Model) -> Result<bool> {
    let db = run.app.db.write();
    let step = (State::Writing, State::Dropped);
    let is_ours = archive_file::advance(db, file.id, step, run.app.clock.now()).await?;
    if !is_ours && file.state != State::Dropped {
        return Ok(false);
    }
    remove(run, file).await?;
    archive_file::delete(db, file.id).await?;
    Ok(true)
}

pub async fn remove(run: &Run<'_>, file: &Model) -> Result<()> {
    let (directory, path) = (run.directory.clone(), file.path.clone());
    blocking(move || directory.remove(&path)).await
}

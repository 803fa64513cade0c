//! Giving up a file that was never verified: all its rows are still in their table.

use entity::archive_file::{Model, State};

use super::run::{Run, blocking};
use crate::error::Result;
use crate::repositories::archive_file;

/// Drops a file whose rows are all in the table: first its state, so that a writer that was only paused cannot
/// go on, then the file, and its row last, so that a crash in between forgets no file. False when another run
/// changed its state first.
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

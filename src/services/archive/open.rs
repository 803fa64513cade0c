//! Finishing the files that earlier runs left open: an unverified file is given up, the rows of a verified one are deleted.

use entity::archive_file::State;

use super::batch;
use super::give_up::give_up;
use super::run::Run;
use crate::error::Result;
use crate::repositories::archive_file;

/// Finishes every open file; returns how many, and false when the run's time window was over first.
pub async fn finish_all(run: &Run<'_>) -> Result<(u64, bool)> {
    let mut finished = 0;
    while let Some(file) = archive_file::first_open(run.app.db.read()).await? {
        if run.is_over() {
            return Ok((finished, false));
        }
        let is_finished = match file.state {
            // Its writer has verified it meanwhile: look at its new state.
            State::Writing | State::Dropped if !give_up(run, &file).await? => continue,
            State::Writing | State::Dropped => true,
            State::Purging | State::Purged => {
                let step = (State::Purging, State::Purged);
                let now = run.app.clock.now();
                archive_file::close(run.app.db.write(), file.id, step, now).await?;
                true
            }
            State::Verified | State::Deleted => {
                let contents = batch::read_back(run, &file).await?;
                batch::delete(run, &file, &contents.keys).await?
            }
        };
        if !is_finished {
            return Ok((finished, false));
        }
        finished += 1;
    }
    Ok((finished, true))
}

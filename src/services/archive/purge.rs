//! Purging: tables whose old rows are not to be kept. The rows are deleted without a file and counted in the same
//! transactions.

use std::time::Instant;

use entity::archive_file::{Model, State};

use super::batch::{begin, first_key, name, new_row, note_transaction};
use super::run::{Batch, Progress, Run};
use crate::domain::archive::Key;
use crate::error::{Error, Result};
use crate::repositories::archive_file;
use crate::repositories::old_rows::{self, Range, Row};

/// Deletes the next batch behind the key `after`; `None` when nothing is left.
pub async fn purge(run: &Run<'_>, range: &Range, after: Option<&Key>) -> Result<Option<Batch>> {
    let Some(first) = first_key(run, range, after).await? else {
        return Ok(None);
    };
    let path = format!("purged/{}", name(range, &first));
    let mut row = new_row(run, range, path, State::Purging);
    row.first_key = first.to_string();
    let row = begin(run, row).await?;
    let batch = delete(run, range, &row, after).await?;
    let step = (State::Purging, State::Purged);
    archive_file::close(run.app.db.write(), row.id, step, run.app.clock.now()).await?;
    let (table, path, rows) = (range.table, row.path.as_str(), batch.rows);
    (run.watch)(&Progress::Finished { table, path, rows });
    Ok(Some(batch))
}

async fn delete(run: &Run<'_>, range: &Range, row: &Model, after: Option<&Key>) -> Result<Batch> {
    let (mut rows, mut seen) = (0, 0);
    let mut last = after.cloned();
    while !run.is_over() {
        let slice = next_slice(run, range, last.as_ref(), seen).await?;
        let Some(newest) = slice.last() else {
            let is_complete = true;
            return Ok(Batch {
                rows,
                last,
                is_complete,
            });
        };
        last = Some(newest.key.clone());
        seen += slice.len();
        let deleted = delete_slice(run, row, &slice).await?;
        rows += deleted;
        let table = range.table;
        (run.watch)(&Progress::Deleted {
            table,
            rows: deleted,
        });
        run.pause().await;
    }
    let is_complete = false;
    Ok(Batch {
        rows,
        last,
        is_complete,
    })
}

async fn delete_slice(run: &Run<'_>, row: &Model, slice: &[Row]) -> Result<u64> {
    let keys: Vec<Key> = slice.iter().map(|row| row.key.clone()).collect();
    let newest_at = slice.iter().map(|row| row.created_at).max();
    let begun = Instant::now();
    let deleted = run
        .app
        .db
        .transaction(async |tx| {
            let deleted = old_rows::delete(tx, row.table, &keys).await?;
            let purged = Model {
                rows: i64::try_from(deleted).unwrap_or(i64::MAX),
                last_key: keys.last().map(Key::to_string).unwrap_or_default(),
                newest_at,
                updated_at: run.app.clock.now(),
                ..row.clone()
            };
            archive_file::count_purged(tx, &purged).await?;
            Ok::<_, Error>(deleted)
        })
        .await?;
    note_transaction(run, begun);
    Ok(deleted)
}

async fn next_slice(
    run: &Run<'_>,
    range: &Range,
    after: Option<&Key>,
    seen: usize,
) -> Result<Vec<Row>> {
    let room = run.app.settings.archive.batch.saturating_sub(seen);
    if room == 0 {
        return Ok(Vec::new());
    }
    let limit = room.min(run.slice()).try_into().unwrap_or(1);
    Ok(old_rows::page(run.app.db.read(), range, after, limit).await?)
}

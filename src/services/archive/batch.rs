//! Archiving one batch of rows: write a file, read it back, and only then delete its rows.

use std::sync::atomic::Ordering;
use std::time::Instant;

use chrono::{DateTime, Utc};
use entity::archive_file::{Model, State};
use uuid::Uuid;

use super::give_up::{give_up, remove};
use super::run::{Batch, Progress, Run, blocking};
use crate::database::OnDuplicate;
use crate::domain::archive::Key;
use crate::error::{Error, Result};
use crate::files::{self, Contents, Draft};
use crate::repositories::archive_file;
use crate::repositories::old_rows::{self, Range, Row};

/// How many rows are read at once, and so held in memory.
const PAGE: usize = 1_000;

/// Moves the next batch behind the key `after` into a file; `None` when no old row is left.
pub async fn archive(run: &Run<'_>, range: &Range, after: Option<&Key>) -> Result<Option<Batch>> {
    let Some(first) = first_key(run, range, after).await? else {
        return Ok(None);
    };
    let path = format!("{}{}", name(range, &first), files::SUFFIX);
    let file = begin(run, new_row(run, range, path, State::Writing)).await?;
    let file = write(run, range, file, after).await?;
    if file.rows == 0 && give_up(run, &file).await? {
        return Ok(None);
    }
    let contents = read_back(run, &file).await?;
    if !archive_file::verified(run.app.db.write(), &file).await? {
        // Nobody else writes, or knows, a file of this name.
        remove(run, &file).await?;
        return Err(taken_over());
    }
    let is_complete = delete(run, &file, &contents.keys).await?;
    let rows = u64::try_from(file.rows).unwrap_or_default();
    let last = contents.keys.last().cloned();
    Ok(Some(Batch {
        rows,
        last,
        is_complete,
    }))
}

/// The key of the next old row behind `after`; the file is named by it.
pub async fn first_key(run: &Run<'_>, range: &Range, after: Option<&Key>) -> Result<Option<Key>> {
    let page = old_rows::page(run.app.db.read(), range, after, 1).await?;
    Ok(page.into_iter().next().map(|row| row.key))
}

/// Inserts a file's row before any of its rows are read. While that row is open no other run moves rows, and a
/// run that takes over first takes that row away.
pub async fn begin(run: &Run<'_>, row: Model) -> Result<Model> {
    archive_file::insert(run.app.db.write(), row)
        .await
        .on_duplicate("uk_archive_file_open", taken_over())
}

fn taken_over() -> Error {
    Error::Internal("another run took over meanwhile: this one ends here".to_owned())
}

/// Reads a file back from the disk; an error when it differs from what its row says.
pub async fn read_back(run: &Run<'_>, file: &Model) -> Result<Contents> {
    let (path, table) = (run.directory.path(&file.path), file.table);
    let contents = blocking(move || files::read_back(&path, table)).await?;
    if is_as_noted(&contents, file) {
        return Ok(contents);
    }
    Err(Error::Internal(format!(
        "{} does not hold what was written to it; no row of it was deleted by this run",
        run.directory.path(&file.path).display()
    )))
}

pub fn is_as_noted(contents: &Contents, file: &Model) -> bool {
    let key = |key: Option<&Key>| key.map(Key::to_string).unwrap_or_default();
    contents.sha256 == file.sha256
        && i64::try_from(contents.keys.len()) == Ok(file.rows)
        && key(contents.keys.first()) == file.first_key
        && key(contents.keys.last()) == file.last_key
}

/// Deletes exactly the rows with these keys, those of a verified file; false when the window was over first.
pub async fn delete(run: &Run<'_>, file: &Model, keys: &[Key]) -> Result<bool> {
    let table = file.table;
    for slice in keys.chunks(run.slice()) {
        if run.is_over() {
            return Ok(false);
        }
        let begun = Instant::now();
        let rows = run
            .app
            .db
            .transaction(async |tx| Ok::<_, Error>(old_rows::delete(tx, table, slice).await?))
            .await?;
        note_transaction(run, begun);
        (run.watch)(&Progress::Deleted { table, rows });
        run.pause().await;
    }
    let now = run.app.clock.now();
    let step = (State::Verified, State::Deleted);
    archive_file::close(run.app.db.write(), file.id, step, now).await?;
    let (path, rows) = (
        file.path.as_str(),
        keys.len().try_into().unwrap_or_default(),
    );
    (run.watch)(&Progress::Finished { table, path, rows });
    Ok(true)
}

pub fn note_transaction(run: &Run<'_>, begun: Instant) {
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    run.longest.fetch_max(micros, Ordering::Relaxed);
}

/// A file name that no other run uses: a run that was paused must not overwrite its successor's file.
pub fn name(range: &Range, first: &Key) -> String {
    let (table, tag) = (range.table.name(), Uuid::new_v4().simple().to_string());
    let tag = tag.get(..8).unwrap_or_default();
    format!("{table}/{}-{tag}", first.file_stem())
}

pub fn new_row(run: &Run<'_>, range: &Range, path: String, state: State) -> Model {
    let now = run.app.clock.now();
    Model {
        id: 0,
        table: range.table,
        path,
        rows: 0,
        first_key: String::new(),
        last_key: String::new(),
        newest_at: None,
        sha256: String::new(),
        state,
        open_slot: 0,
        created_at: now,
        updated_at: now,
    }
}

/// Writes page after page up to a full batch; returns the file's row with its checksum and number of rows.
async fn write(
    run: &Run<'_>,
    range: &Range,
    mut file: Model,
    after: Option<&Key>,
) -> Result<Model> {
    let (directory, path) = (run.directory.clone(), file.path.clone());
    let mut draft = blocking(move || Draft::create(&directory, &path)).await?;
    let mut page = next_page(run, range, after, 0).await?;
    let mut written = 0;
    while let Some(last) = page.last().map(|row| row.key.clone()) {
        note(&mut file, &page);
        let rows = page.len();
        written += rows;
        draft = blocking(move || {
            draft.append(page.iter().map(|row| row.line.as_str()))?;
            Ok(draft)
        })
        .await?;
        let (table, rows) = (range.table, rows.try_into().unwrap_or_default());
        (run.watch)(&Progress::Written { table, rows });
        page = next_page(run, range, Some(&last), written).await?;
    }
    file.sha256 = blocking(move || draft.finish()).await?;
    file.rows = i64::try_from(written).unwrap_or(i64::MAX);
    file.updated_at = run.app.clock.now();
    Ok(file)
}

/// The next page of a batch of which `written` rows are in the file; empty when the batch is full.
async fn next_page(
    run: &Run<'_>,
    range: &Range,
    after: Option<&Key>,
    written: usize,
) -> Result<Vec<Row>> {
    let room = run.app.settings.archive.batch.saturating_sub(written);
    if room == 0 {
        return Ok(Vec::new());
    }
    let limit = room.min(PAGE).try_into().unwrap_or(1);
    Ok(old_rows::page(run.app.db.read(), range, after, limit).await?)
}

fn note(file: &mut Model, page: &[Row]) {
    let newest: Option<DateTime<Utc>> = page.iter().map(|row| row.created_at).max();
    file.newest_at = file.newest_at.max(newest);
    if let (true, Some(first)) = (file.first_key.is_empty(), page.first()) {
        file.first_key = first.key.to_string();
    }
    if let Some(last) = page.last() {
        file.last_key = last.key.to_string();
    }
}

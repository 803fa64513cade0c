//! Reading the archive: list its files, find rows in them, and verify that the files are whole.

use entity::OrderId;
use entity::archive_file::{Model, State, Table};
use serde_json::Value;

use super::run::blocking;
use super::{batch, directory};
use crate::app::App;
use crate::error::Result;
use crate::files;
use crate::repositories::archive_file;

/// States of files that were verified.
const WHOLE: [State; 2] = [State::Verified, State::Deleted];

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sought {
    /// Everything about an order.
    Order(OrderId),
    /// A gateway's message, by the id that the gateway gave it.
    Event(String),
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: String,
    pub problem: String,
}

/// The rows of all files and purges, the oldest first.
pub async fn list(app: &App) -> Result<Vec<Model>> {
    Ok(archive_file::list(app.db.read(), &[]).await?)
}

/// Calls `each` with every line of a verified file that is about what is sought, and with that file's row.
pub async fn find(app: &App, sought: &Sought, mut each: impl FnMut(&Model, &str)) -> Result<()> {
    let Some(directory) = directory::existing(app).await? else {
        return Ok(());
    };
    for file in archive_file::list(app.db.read(), &WHOLE).await? {
        let (path, table, sought) = (directory.path(&file.path), file.table, sought.clone());
        let lines = blocking(move || {
            let mut found = Vec::new();
            files::each_line(&path, |line| {
                if tells_of(table, line, &sought) {
                    found.push(line.to_owned());
                }
                Ok(())
            })?;
            Ok(found)
        })
        .await?;
        for line in &lines {
            each(&file, line);
        }
    }
    Ok(())
}

/// Reads every verified file again. Calls `each` for a file that differs from its row in the database, and for a
/// file in the directory that has no row. Returns how many files were read.
pub async fn verify(app: &App, mut each: impl FnMut(Difference)) -> Result<usize> {
    let Some(directory) = directory::existing(app).await? else {
        return Ok(0);
    };
    let files = archive_file::list(app.db.read(), &WHOLE).await?;
    for file in &files {
        let (path, table) = (directory.path(&file.path), file.table);
        let problem = match blocking(move || files::read_back(&path, table)).await {
            Ok(contents) if batch::is_as_noted(&contents, file) => continue,
            Ok(_) => "does not hold what was written to it".to_owned(),
            Err(error) => error.cause(),
        };
        let path = file.path.clone();
        each(Difference { path, problem });
    }
    let lying = blocking(move || directory.files()).await?;
    let known = archive_file::list(app.db.read(), &[]).await?;
    for path in lying {
        if known.iter().all(|file| file.path != path) {
            let problem = "is not known to the database".to_owned();
            each(Difference { path, problem });
        }
    }
    Ok(files.len())
}

fn tells_of(table: Table, line: &str, sought: &Sought) -> bool {
    let needle = match sought {
        Sought::Order(order) => order.to_string(),
        // The event's id as JSON writes it in a file.
        Sought::Event(event) => Value::from(event.as_str()).to_string(),
    };
    // A search in the text first, so that few lines have to be parsed.
    if !line.contains(&needle) {
        return false;
    }
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let field = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    match (sought, table) {
        (Sought::Order(_), Table::PaymentCallback | Table::OrderEvent) => {
            field("order_id") == needle
        }
        (Sought::Order(_), Table::IdempotencyRecord) => field("resource_id") == needle,
        (Sought::Order(_), Table::MessageConsumeLog) => {
            field("biz_key").split(':').next() == Some(&needle)
        }
        (Sought::Event(event), Table::PaymentCallback) => field("event_id") == event,
        (Sought::Event(_), _) => false,
    }
}

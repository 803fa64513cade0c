//! How far the archive is: a bar a table on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};

use entity::archive_file::Table;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use order_service::services::archive::Progress;

use super::say;

const BAR: &str = "{prefix:20} {bar:30} {human_pos}/{human_len} rows  {per_sec}  {eta} left  {msg}";

/// Shows the progress of one run.
#[derive(Debug)]
pub struct Bars {
    /// `None` where nobody watches a terminal.
    drawn: Option<MultiProgress>,
    /// The bar of the table that is being worked on.
    current: Mutex<Option<(Table, ProgressBar)>>,
}

impl Bars {
    pub fn new(dry_run: bool) -> Self {
        let is_drawn = stderr().is_terminal() && !dry_run;
        Self {
            drawn: is_drawn.then(MultiProgress::new),
            current: Mutex::new(None),
        }
    }

    pub fn show(&self, progress: &Progress<'_>) {
        match &self.drawn {
            Some(all) => self.draw(all, progress),
            None => print(progress),
        }
    }

    /// Leaves the terminal to what is printed next.
    pub fn end(&self) {
        if let Some((_, bar)) = self.bar().take() {
            bar.finish();
        }
    }

    fn draw(&self, all: &MultiProgress, progress: &Progress<'_>) {
        let mut current = self.bar();
        match *progress {
            Progress::Found { table, rows } => {
                if let Some((_, bar)) = current.take() {
                    bar.finish();
                }
                *current = Some((table, all.add(bar(table, rows))));
            }
            Progress::Written { table, rows } => {
                if let Some((_, bar)) = current.as_ref().filter(|(of, _)| *of == table) {
                    bar.set_message(format!("writing {rows}"));
                    bar.tick();
                }
            }
            Progress::Deleted { table, rows } => {
                if let Some((_, bar)) = current.as_ref().filter(|(of, _)| *of == table) {
                    bar.set_message("deleting");
                    bar.inc(rows);
                }
            }
            Progress::Finished { path, rows, .. } => {
                // Fails only where there is no terminal any more.
                let _ = all.println(format!("{path}: {rows} rows"));
            }
        }
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, Option<(Table, ProgressBar)>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bar(table: Table, rows: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(BAR);
    ProgressBar::new(rows)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(table.name())
}

/// A line a file: logs are read by people too.
fn print(progress: &Progress<'_>) {
    match progress {
        Progress::Found { table, rows } => say(format_args!("{}: {rows} old rows", table.name())),
        Progress::Finished { path, rows, .. } => say(format_args!("{path}: {rows} rows")),
        Progress::Written { .. } | Progress::Deleted { .. } => {}
    }
}

//! The commands that have commands of their own.

pub mod archive;
pub mod events;
pub mod job;
mod progress;

use std::fmt::Display;
use std::io::{Write, stdout};

/// Prints a line; a reader who has seen enough (`| head`) is no failure, and no reason to end.
fn say(line: impl Display) {
    let _ = writeln!(stdout(), "{line}");
}

//! The archive's files on the disk: zstd-compressed NDJSON, a row a line. Everything here blocks.

mod directory;
mod draft;
mod hashing;
mod reading;

use std::io;
use std::path::Path;

use crate::error::Error;

pub use directory::Directory;
pub use draft::Draft;
pub use reading::{Contents, each_line, read_back};

/// What every finished file's name ends in.
pub const SUFFIX: &str = ".ndjson.zst";

/// Names the file that an operation failed on.
fn at(path: &Path, error: &io::Error) -> Error {
    Error::Internal(format!("{}: {error}", path.display()))
}

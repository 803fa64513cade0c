//! How files are named, in folders and in errors.

use std::io;
use std::path::Path;

use crate::error::Error;

/// What every finished file's name ends in.
pub const SUFFIX: &str = ".ndjson.zst";

/// Names the file that an operation failed on.
pub(super) fn at(path: &Path, error: &io::Error) -> Error {
    Error::Internal(format!("{}: {error}", path.display()))
}

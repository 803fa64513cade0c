//! The archive's files on the disk: zstd-compressed NDJSON, a row a line. Everything here blocks.

mod directory;
mod draft;
mod durable;
mod hashing;
mod names;
mod reading;

pub use directory::Directory;
pub use draft::Draft;
pub use names::SUFFIX;
pub use reading::{Contents, each_line, read_back};

//! Reading files back: line by line, and to see that they hold what was written.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use entity::archive_file::Table;
use zstd::Decoder;

use super::hashing::Hashing;
use super::names::at;
use crate::domain::archive::{Key, hex};
use crate::error::{Error, Result};

/// What a file holds.
#[derive(Debug, Clone)]
pub struct Contents {
    /// Ascending.
    pub keys: Vec<Key>,
    /// Of the compressed file, in hexadecimal.
    pub sha256: String,
}

/// Reads a file from its first to its last byte and hands out its lines; returns its SHA-256.
pub fn each_line(path: &Path, mut each: impl FnMut(&str) -> Result<()>) -> Result<String> {
    let broken = |error: io::Error| at(path, &error);
    let file = File::open(path).map_err(broken)?;
    let mut decoder = Decoder::new(Hashing::new(file)).map_err(broken)?;
    for line in BufReader::new(&mut decoder).lines() {
        each(&line.map_err(broken)?)?;
    }
    let mut rest = decoder.finish();
    io::copy(&mut rest, &mut io::sink()).map_err(broken)?;
    let (_, sha256) = rest.into_inner().split();
    Ok(hex(&sha256))
}

/// Reads a file of a table back; an error when it is damaged or not in order.
pub fn read_back(path: &Path, table: Table) -> Result<Contents> {
    let mut keys: Vec<Key> = Vec::new();
    let sha256 = each_line(path, |line| {
        let key = Key::of_line(table, line);
        match key.filter(|key| keys.last().is_none_or(|last| last < key)) {
            Some(key) => {
                keys.push(key);
                Ok(())
            }
            None => Err(Error::Internal(format!(
                "{}: line {} is no row of {}, or out of order",
                path.display(),
                keys.len() + 1,
                table.name()
            ))),
        }
    })?;
    Ok(Contents { keys, sha256 })
}

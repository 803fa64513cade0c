//! The directory of the archive and its marker file, which says whose it is.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::durable::{owner_only, sync_folder};
use super::names::{SUFFIX, at};
use crate::error::Result;

const MARKER: &str = "archive.id";
const TEMPORARY: &str = ".tmp";

/// Paths of files are told below it, with `/`.
#[derive(Debug, Clone)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn temporary(&self, path: &str) -> PathBuf {
        self.root.join(format!("{path}{TEMPORARY}"))
    }

    pub fn marker_path(&self) -> PathBuf {
        self.root.join(MARKER)
    }

    /// What the marker file says; `None` when there is none.
    pub fn marker(&self) -> Result<Option<String>> {
        let path = self.marker_path();
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&path, &error)),
        }
    }

    /// Makes the directory, where it is missing, and its marker file.
    pub fn mark(&self, marker: &str) -> Result<()> {
        let path = self.marker_path();
        fs::create_dir_all(&self.root)
            .and_then(|()| written(&self.temporary(MARKER), marker))
            .and_then(|()| fs::rename(self.temporary(MARKER), &path))
            .and_then(|()| sync_folder(&self.root))
            .map_err(|error| at(&path, &error))
    }

    /// Removes a file, whole or half written, as far as it is there.
    pub fn remove(&self, path: &str) -> Result<()> {
        for path in [self.temporary(path), self.path(path)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// All finished files that lie in the directory, sorted.
    pub fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        for folder in entries(&self.root)? {
            for file in entries(&folder)? {
                let path = file.strip_prefix(&self.root).unwrap_or(&file);
                let path = path.to_string_lossy().replace('\\', "/");
                if path.ends_with(SUFFIX) {
                    files.push(path);
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

/// What lies in a folder; nothing lies in a file, nor in what is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect()
    });
    entries.map_err(|error| at(folder, &error))
}

fn written(path: &Path, marker: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    owner_only(&mut options);
    let mut file = options.open(path)?;
    file.write_all(format!("{marker}\n").as_bytes())?;
    file.sync_all()
}

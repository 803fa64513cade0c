//! Watching the `SQLite` file: a connection goes on writing into a file that was removed or replaced, and all that it
//! stores there is lost.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What identifies a file whatever its name: device, inode, and creation time, as inode numbers are used again.
type Identity = (u64, u64, Option<SystemTime>);

/// The file by its path, and which file was there last.
#[derive(Debug)]
pub struct SqliteFile {
    path: PathBuf,
    seen: Mutex<Option<Identity>>,
}

/// What is at the path now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Same,
    /// Another file, which is used from now on; connections that were opened before still hold the old one.
    Another,
    Nothing,
}

impl SqliteFile {
    pub fn at(path: PathBuf) -> Self {
        let seen = Mutex::new(None);
        let file = Self { path, seen };
        file.look();
        file
    }

    /// One look at the path: a call to the system, no I/O.
    pub fn look(&self) -> Found {
        let Some(now) = fs::metadata(&self.path).ok().map(|found| identity(&found)) else {
            return Found::Nothing;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.replace(now) {
            Some(before) if before != now => Found::Another,
            _ => Found::Same,
        }
    }
}

#[cfg(unix)]
fn identity(found: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino(), found.created().ok())
}

/// On other systems a file that is in use can be neither removed nor replaced.
#[cfg(not(unix))]
fn identity(_found: &fs::Metadata) -> Identity {
    (0, 0, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.db");
        fs::write(&path, "one").unwrap();
        let file = SqliteFile::at(path.clone());

        let same = file.look();
        fs::rename(&path, folder.path().join("away.db")).unwrap();
        let nothing = file.look();
        fs::write(&path, "two").unwrap();
        let another = file.look();

        assert_eq!(
            (same, nothing, another, file.look()),
            (Found::Same, Found::Nothing, Found::Another, Found::Same)
        );
    }
}

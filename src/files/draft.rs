//! A file that is being written: under a temporary name until it is whole and on the disk.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use zstd::Encoder;

use super::directory::Directory;
use super::durable::{owner_only, sync_folder};
use super::hashing::Hashing;
use super::names::at;
use crate::domain::archive::hex;
use crate::error::Result;

/// As `zstd` itself does where nobody names a level.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

pub struct Draft {
    temporary: PathBuf,
    path: PathBuf,
    encoder: Encoder<'static, Hashing<BufWriter<File>>>,
}

impl Draft {
    /// Begins the file `path` of the directory, readable by its owner only.
    pub fn create(directory: &Directory, path: &str) -> Result<Self> {
        let temporary = directory.temporary(path);
        let path = directory.path(path);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        let encoder = encoder(&temporary).map_err(|error| at(&temporary, &error))?;
        Ok(Self {
            temporary,
            path,
            encoder,
        })
    }

    /// Adds lines, each without its end.
    pub fn append<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for line in lines {
            let written = self.encoder.write_all(line.as_bytes());
            written
                .and_then(|()| self.encoder.write_all(b"\n"))
                .map_err(|error| at(&self.temporary, &error))?;
        }
        Ok(())
    }

    /// Puts the whole file under its name, durably; returns its SHA-256.
    pub fn finish(self) -> Result<String> {
        let Self {
            temporary,
            path,
            encoder,
        } = self;
        let sha256 = written_through(encoder).map_err(|error| at(&temporary, &error))?;
        fs::rename(&temporary, &path).map_err(|error| at(&path, &error))?;
        sync_upwards(&path).map_err(|error| at(&path, &error))?;
        Ok(sha256)
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn encoder(path: &Path) -> io::Result<Encoder<'static, Hashing<BufWriter<File>>>> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owner_only(&mut options);
    let file = BufWriter::new(options.open(path)?);
    let mut encoder = Encoder::new(Hashing::new(file), LEVEL)?;
    // `zstd -t` can then test the file by itself.
    encoder.include_checksum(true)?;
    Ok(encoder)
}

fn written_through(encoder: Encoder<'static, Hashing<BufWriter<File>>>) -> io::Result<String> {
    let (file, sha256) = encoder.finish()?.split();
    file.into_inner()?.sync_all()?;
    Ok(hex(&sha256))
}

/// A name is on the disk once its folder is: the file's, and the folder's own in the directory.
fn sync_upwards(path: &Path) -> io::Result<()> {
    for folder in path.ancestors().skip(1).take(2) {
        sync_folder(folder)?;
    }
    Ok(())
}

//! What the system has to be told so that a file is there after a crash, and nobody else's to read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn owner_only(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
}

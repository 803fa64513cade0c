//! Whether the directory is the one that the database's archive lies in: several instances share it.

use uuid::Uuid;

use super::run::blocking;
use crate::app::App;
use crate::error::{Error, Result};
use crate::files::Directory;
use crate::repositories::archive_file;

/// The archive's directory, to write to; the first time it is made and marked.
///
/// An error that says what to do when the marker file is missing or another's.
pub async fn open(app: &App) -> Result<Directory> {
    let directory = Directory::new(&app.settings.archive.directory);
    if archive_file::marker(app.db.read()).await?.is_none() {
        found(app, &directory).await?;
    }
    check(app, &directory).await?;
    Ok(directory)
}

/// The same to read from; `None` while nothing was ever archived.
pub async fn existing(app: &App) -> Result<Option<Directory>> {
    let directory = Directory::new(&app.settings.archive.directory);
    if archive_file::marker(app.db.read()).await?.is_none() {
        return Ok(None);
    }
    check(app, &directory).await?;
    Ok(Some(directory))
}

/// The file first: a crash leaves an empty directory with a marker, which the next run takes over.
async fn found(app: &App, directory: &Directory) -> Result<()> {
    let own = directory.clone();
    let marker = blocking(move || match own.marker()? {
        Some(marker) if own.files()?.is_empty() => Ok(marker),
        Some(_) => Err(Error::Internal(format!(
            "{} holds the archive of another database: choose another ORDER__ARCHIVE__DIRECTORY; if the \
             database was restored from before its first archive, move the files away",
            own.marker_path().display()
        ))),
        None => {
            let marker = Uuid::new_v4().to_string();
            own.mark(&marker)?;
            Ok(marker)
        }
    })
    .await?;
    archive_file::set_marker(app.db.write(), &marker, app.clock.now()).await?;
    Ok(())
}

async fn check(app: &App, directory: &Directory) -> Result<()> {
    let kept = archive_file::marker(app.db.read()).await?;
    let kept = kept.unwrap_or_default();
    let own = directory.clone();
    let found = blocking(move || own.marker()).await?;
    let path = directory.marker_path();
    let path = path.display();
    match found {
        Some(found) if found == kept => Ok(()),
        Some(_) => Err(Error::Internal(format!(
            "{path} is the marker of another archive: set ORDER__ARCHIVE__DIRECTORY to the directory whose \
             archive.id reads {kept}"
        ))),
        None => Err(Error::Internal(format!(
            "{path} is missing: is the archive's directory mounted, and ORDER__ARCHIVE__DIRECTORY right? If \
             its files were moved here without it, write {kept} into it"
        ))),
    }
}

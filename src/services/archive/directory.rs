//! Checks that the configured directory is this database's archive: all instances have to share one directory.

use uuid::Uuid;

use super::run::blocking;
use crate::app::App;
use crate::error::{Error, Result};
use crate::files::Directory;
use crate::repositories::archive_file;

/// Opens the archive's directory for writing; the first time it is created and gets its marker file.
///
/// Fails, saying what to do, when the marker file is missing or belongs to another database.
pub async fn open(app: &App) -> Result<Directory> {
    let directory = Directory::new(&app.settings.archive.directory);
    if archive_file::marker(app.db.read()).await?.is_none() {
        found(app, &directory).await?;
    }
    check(app, &directory).await?;
    Ok(directory)
}

/// Opens the archive's directory for reading; `None` while nothing was ever archived.
pub async fn existing(app: &App) -> Result<Option<Directory>> {
    let directory = Directory::new(&app.settings.archive.directory);
    if archive_file::marker(app.db.read()).await?.is_none() {
        return Ok(None);
    }
    check(app, &directory).await?;
    Ok(Some(directory))
}

/// Creates the marker file before the database's row: after a crash in between, the next run takes over the directory
/// and its marker.
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

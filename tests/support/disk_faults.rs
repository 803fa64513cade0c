//! A disk that is full, broken, only for reading or that hangs, as a test says; only for the service's own process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::entrance::eventually;
use super::shop::Place;

/// The database's files: itself, its log, its index.
const DATABASE: &str = "orders.db";
/// Every file of the place.
const EVERYTHING: &str = ".";
/// More calls than any test makes.
const FOR_EVER: u64 = 1_000_000_000;

/// The disk under a place, as the processes see it that are started with [`Disk::environment`].
#[derive(Debug)]
pub struct Disk {
    library: String,
    control: String,
    /// The folder whose files are meant.
    place: PathBuf,
    rules: AtomicU64,
    _folder: TempDir,
}

/// What calls to the system are answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Writes find no room.
    Full,
    /// Syncing fails.
    Unsynced,
    /// Writes fail.
    Unwritten,
    /// Nothing is opened to write, or written.
    ReadOnly,
    /// Writes wait until the disk is well.
    Hanging,
    /// Syncing waits until the disk is well, and is then done.
    HangingSync,
}

impl Disk {
    /// Well, until it is told otherwise.
    pub fn under(place: &Place) -> Self {
        let folder = TempDir::new().unwrap();
        let control = folder.path().join("rule").display().to_string();
        let disk = Self {
            library: library().display().to_string(),
            control,
            place: place.archive().parent().unwrap().to_owned(),
            rules: AtomicU64::new(0),
            _folder: folder,
        };
        disk.recovers();
        disk
    }

    /// The variables by which a process stands on this disk, and `more`.
    pub fn environment<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let own = [
            ("LD_PRELOAD", self.library.as_str()),
            ("TEST_DISK_FAULTS", self.control.as_str()),
        ];
        own.into_iter().chain(more.iter().copied()).collect()
    }

    /// From now on the database's files meet this.
    pub fn meets(&self, fault: Fault) {
        self.follow(fault, 0..FOR_EVER, DATABASE);
    }

    /// All files meet this, those of the archive too.
    pub fn meets_everywhere(&self, fault: Fault) {
        self.follow(fault, 0..FOR_EVER, EVERYTHING);
    }

    /// Only files whose name contains `part` meet this.
    pub fn meets_at(&self, fault: Fault, part: &str) {
        self.follow(fault, 0..FOR_EVER, part);
    }

    /// No call finds room any more after so many, of the archive's files neither.
    pub fn fills_up_after(&self, calls: u64) {
        self.follow(Fault::Full, calls..FOR_EVER, EVERYTHING);
    }

    /// Of the calls that come from now on, counted from 0, one meets this.
    pub fn meets_once(&self, fault: Fault, call: u64) {
        self.follow(fault, call..call + 1, DATABASE);
    }

    /// Each call is done again.
    pub fn recovers(&self) {
        self.follow(Fault::Full, 0..0, EVERYTHING);
    }

    /// How many calls met a fault since the last one began; a hang that ended counts.
    pub fn met(&self) -> usize {
        self.places_met().len()
    }

    /// Which files they were for, in turn.
    pub fn places_met(&self) -> Vec<String> {
        let noted = fs::read_to_string(self.noted()).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    pub async fn is_met(&self) {
        eventually(async || self.met() > 0).await;
    }

    fn follow(&self, fault: Fault, calls: std::ops::Range<u64>, name: &str) {
        let rule = self.rules.fetch_add(1, Ordering::SeqCst);
        let (what, answer) = fault.words();
        let (from, to, place) = (calls.start, calls.end, self.place.display());
        let draft = format!("{}.draft", self.control);
        let line = format!("{rule} {what} {answer} {from} {to} {place} {name}\n");
        fs::write(&draft, line).unwrap();
        if to > from {
            let _ = fs::remove_file(self.noted());
        }
        // In one step: a call sees the rule of before, or this one.
        fs::rename(&draft, &self.control).unwrap();
    }

    fn noted(&self) -> String {
        format!("{}.met", self.control)
    }
}

impl Fault {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Full => ("write", "ENOSPC"),
            Self::Unsynced => ("sync", "EIO"),
            Self::Unwritten => ("write", "EIO"),
            Self::ReadOnly => ("write", "EROFS"),
            Self::Hanging => ("write", "hang"),
            Self::HangingSync => ("sync", "hang"),
        }
    }
}

/// What is preloaded into the service; compiled once a run.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/support/disk_faults.c"
        );
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let draft = folder.join(format!("disk_faults-{}.so", std::process::id()));
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&draft)
            .args([source, "-ldl", "-lpthread"])
            .output()
            .expect("tests of a disk in trouble need a C compiler: install gcc (Debian, Ubuntu: `apt-get install gcc`)");
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}");
        // Another run may stand on the one of before.
        let library = folder.join("disk_faults.so");
        fs::rename(draft, &library).unwrap();
        library
    })
}

//! A server of a test's own as a process: its directory, its port, its start, its signals.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const START_LIMIT: Duration = Duration::from_mins(1);

/// An empty directory under the build's.
pub fn new_directory(kind: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{kind}-{}-{count}", std::process::id());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory under the build's");
    directory
}

/// A free port between 10,000 and 20,000: below the range from which the system takes those of outgoing connections,
/// and below those of `scripts/rabbitmq`, so it stays free over a restart.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id() * 37;
    (0..10_000)
        .map(|_| 10_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free port")
}

/// What the server writes goes to `log` in its directory, over all its starts.
pub fn open_log(directory: &Path) -> File {
    File::options()
        .create(true)
        .append(true)
        .open(directory.join("log"))
        .expect("a log")
}

/// Returns once the server answers; fails, with its log, when it ends or takes too long instead.
pub fn wait_until(answers: impl Fn() -> bool, child: &mut Child, directory: &Path) {
    let started = Instant::now();
    while !answers() {
        let ended = child.try_wait().expect("the state of our own child");
        assert!(
            ended.is_none() && started.elapsed() < START_LIMIT,
            "the server in {} did not start ({ended:?}):\n{}",
            directory.display(),
            fs::read_to_string(directory.join("log")).unwrap_or_default(),
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal, like `-STOP`, to a process of the test's own; false when there is none.
pub fn signal(name: &str, pid: &str) -> bool {
    let status = Command::new("kill").args([name, pid]).status();
    status.is_ok_and(|status| status.success())
}

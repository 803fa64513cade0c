//! A MariaDB server of a test's own, for tests that kill, restart or freeze the database.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::server_process::{free_port, new_directory, open_log, signal, wait_until};

/// The first byte of the greeting's payload, behind a header of four: version 10 of the protocol.
const GREETING: u8 = 10;

/// A running server with data of its own; dropped, it and they are gone, whatever state it was in.
#[derive(Debug)]
pub struct MariaDbServer {
    directory: PathBuf,
    port: u16,
    options: Vec<String>,
    child: Child,
}

impl MariaDbServer {
    /// Lays out an empty database and serves it on a free port of 127.0.0.1; returns once it answers.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with options that win over ours, like `--max-connections=12`.
    pub fn start_with(options: &[&str]) -> Self {
        let directory = new_directory("mariadb");
        install(&directory);
        let port = free_port();
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let child = spawn(&directory, port, &options);
        let mut server = Self {
            directory,
            port,
            options,
            child,
        };
        server.wait_until_it_answers();
        server
    }

    /// Names no database: `root` without a password may create as many as it likes.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// Ends the server as a crash would (SIGKILL): what it had committed is there after a restart. Also when paused.
    pub fn kill(&mut self) {
        self.child.kill().expect("a server of ours can be killed");
        self.child.wait().expect("a killed server ends");
    }

    /// Kills the server if it runs and starts it on the same data and port; returns once it has recovered and answers.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.directory, self.port, &self.options);
        self.wait_until_it_answers();
    }

    /// Freezes the server (SIGSTOP): connections stay open and new ones are accepted, but nothing is answered.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets a paused server go on where it was.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, name: &str) {
        assert!(signal(name, &self.child.id().to_string()), "kill {name}");
    }

    fn wait_until_it_answers(&mut self) {
        let port = self.port;
        wait_until(|| greets(port), &mut self.child, &self.directory);
    }
}

impl Drop for MariaDbServer {
    fn drop(&mut self) {
        // A failed test is told by its own panic; one in here would end the whole run.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Relative paths and temporary files of its own: the installer stumbles over blanks and over other installers' files.
fn install(directory: &Path) {
    fs::create_dir_all(directory.join("tmp")).expect("a folder in it");
    let mut command = Command::new("mariadb-install-db");
    command
        .args([
            "--no-defaults",
            "--datadir=./data",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ])
        .arg(user_option(directory))
        .env("TMPDIR", directory.join("tmp"))
        .current_dir(directory);
    run(&mut command);
}

fn spawn(directory: &Path, port: u16, options: &[String]) -> Child {
    Command::new("mariadbd")
        .arg("--no-defaults")
        .arg(format!("--datadir={}", directory.join("data").display()))
        .arg(format!("--tmpdir={}", directory.join("tmp").display()))
        .arg(format!("--port={port}"))
        .arg(user_option(directory))
        // Relative to the data: an absolute path may be longer than the system allows for a socket.
        .args([
            "--socket=mysql.sock",
            "--bind-address=127.0.0.1",
            "--character-set-server=utf8mb4",
        ])
        // Each commit reaches the operating system, so it outlives a killed server.
        .args([
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-buffer-pool-size=64M",
            "--skip-log-bin",
        ])
        .args(["--max-connections=500", "--max-connect-errors=1000000"])
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(open_log(directory))
        .spawn()
        .expect("mariadbd, which `make services` installs")
}

/// The server runs as whoever runs the test; `root` has to say so.
fn user_option(directory: &Path) -> String {
    let owner = fs::metadata(directory).expect("our own directory").uid();
    format!(
        "--user={}",
        if owner == 0 {
            "root".to_owned()
        } else {
            owner.to_string()
        }
    )
}

fn greets(port: u16) -> bool {
    let mut greeting = [0; 5];
    TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.read_exact(&mut greeting)
        })
        .is_ok_and(|()| greeting[4] == GREETING)
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}",
        output.status
    );
}

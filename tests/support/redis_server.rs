//! A Redis of a test's own: on a free port of this machine, without persistence, ended with the test.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::server_process::{free_port, new_directory, open_log, signal, wait_until};

/// Kills its server, and no other, when it is dropped.
#[derive(Debug)]
pub struct RedisServer {
    pub port: u16,
    directory: PathBuf,
    child: Option<Child>,
}

impl RedisServer {
    /// On a free port; returns once it answers.
    pub fn start() -> Self {
        let (port, directory) = (free_port(), new_directory("redis"));
        let mut server = Self {
            port,
            child: Some(launch(&directory, port)),
            directory,
        };
        server.wait_until_it_answers();
        server
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it: whoever is connected is cut off, what it held is lost.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Begins anew on the same port, empty.
    pub fn restart(&mut self) {
        self.stop();
        self.child = Some(launch(&self.directory, self.port));
        self.wait_until_it_answers();
    }

    /// From now on it accepts connections and answers nothing.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    pub fn resume(&self) {
        self.signal("-CONT");
    }

    /// A connection past the service, for looking and meddling.
    pub fn client(&self) -> redis::Connection {
        redis::Client::open(self.url())
            .unwrap()
            .get_connection()
            .unwrap()
    }

    fn wait_until_it_answers(&mut self) {
        let (port, child) = (self.port, self.child.as_mut().expect("it was launched"));
        wait_until(|| answers(port), child, &self.directory);
    }

    fn signal(&self, name: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        assert!(signal(name, &pid), "kill {name}");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn launch(directory: &Path, port: u16) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(open_log(directory))
        .stderr(open_log(directory))
        .spawn()
        .expect("redis-server, which `make services` installs")
}

fn answers(port: u16) -> bool {
    let mut answer = [0; 7];
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok_and(|mut stream| {
        stream.write_all(b"PING\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && &answer == b"+PONG\r\n"
    })
}

//! A Redis of a test's own: on a free port of this machine, without persistence, ended with the test.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Kills its server, and no other, when it is dropped.
#[derive(Debug)]
pub struct RedisServer {
    pub port: u16,
    directory: TempDir,
    child: Option<Child>,
}

impl RedisServer {
    /// Answers when the server does. A port that another took in between is given up for the next one.
    pub fn start() -> Self {
        for _ in 0..10 {
            let port = free_port();
            let mut server = Self {
                port,
                directory: TempDir::new().unwrap(),
                child: None,
            };
            server.launch();
            if server.answers() {
                return server;
            }
        }
        panic!("no redis-server could be started");
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
        self.launch();
        assert!(self.answers(), "redis-server did not start again");
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

    fn launch(&mut self) {
        let child = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        self.child = Some(child);
    }

    /// False when the process ended instead.
    fn answers(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if self.child.as_mut().unwrap().try_wait().unwrap().is_some() {
                return false;
            }
            if self.pongs() {
                return true;
            }
            sleep(Duration::from_millis(5));
        }
        false
    }

    fn pongs(&self) -> bool {
        let mut answer = [0; 7];
        TcpStream::connect(("127.0.0.1", self.port)).is_ok_and(|mut stream| {
            stream.write_all(b"PING\r\n").is_ok()
                && stream.read_exact(&mut answer).is_ok()
                && &answer == b"+PONG\r\n"
        })
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(
            status.success(),
            "kill {signal} of the test's own redis-server"
        );
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

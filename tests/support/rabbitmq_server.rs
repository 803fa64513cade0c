//! A RabbitMQ of a test's own, for tests that kill, restart or freeze the broker.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::server_process::{free_port, new_directory, open_log, signal, wait_until};

/// What a client of the protocol says first; the broker's answer to it begins with the type of a method's frame.
const HELLO: &[u8] = b"AMQP\0\0\x09\x01";
const METHOD: u8 = 1;

/// A running broker with data of its own; dropped, it and they are gone, whatever state it was in.
#[derive(Debug)]
pub struct RabbitMqServer {
    directory: PathBuf,
    port: u16,
    child: Child,
}

impl RabbitMqServer {
    /// An empty broker on a free port of 127.0.0.1; returns once it answers.
    pub fn start() -> Self {
        let directory = new_directory("rabbitmq");
        let port = free_port();
        let child = spawn(&directory, port);
        let mut server = Self {
            directory,
            port,
            child,
        };
        server.wait_until_it_answers();
        server
    }

    pub fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.port)
    }

    /// Ends the broker as a crash would (SIGKILL): what it had confirmed is there after a restart. Also when paused.
    pub fn kill(&mut self) {
        self.signal("-KILL");
        self.child.wait().expect("what started it ends with it");
    }

    /// Stops the broker in good order and starts it again: a queue that it made just before a crash is broken for ever.
    pub fn settle(&mut self) {
        assert!(signal("-TERM", &self.child.id().to_string()));
        self.child.wait().expect("a broker that is asked to ends");
        self.restart();
    }

    /// Starts an ended broker on the same data and port; returns once it answers.
    pub fn restart(&mut self) {
        self.child = spawn(&self.directory, self.port);
        self.wait_until_it_answers();
    }

    /// Freezes the broker (SIGSTOP): connections stay open and new ones are accepted, but nothing is answered.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets a paused broker go on where it was.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    /// With its memory said to be full: it takes connections and messages, and confirms nothing (an alarm).
    pub fn block(&self) {
        self.allow_memory("1MB");
    }

    /// Ends the alarm.
    pub fn unblock(&self) {
        self.allow_memory("512MB");
    }

    fn allow_memory(&self, limit: &str) {
        let epmd = fs::read_to_string(self.directory.join("epmd")).expect("it runs");
        // Behind the command on the PATH stands on some systems a wrapper that insists on a user of its own.
        let packaged = Path::new("/usr/lib/rabbitmq/bin/rabbitmqctl");
        let program = if packaged.exists() {
            packaged
        } else {
            Path::new("rabbitmqctl")
        };
        let set = Command::new(program)
            .args(["set_vm_memory_high_watermark", "absolute", limit])
            .env("HOME", self.directory.join("home"))
            .env("ERL_EPMD_PORT", epmd.trim())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODENAME", "orders@localhost")
            .env("RABBITMQ_CONF_ENV_FILE", self.directory.join("environment"))
            .output()
            .expect("rabbitmqctl, which comes with RabbitMQ");
        assert!(set.status.success(), "{set:?}");
    }

    fn signal(&self, name: &str) {
        let pid = fs::read_to_string(self.directory.join("pid")).expect("it runs");
        assert!(signal(name, pid.trim()), "kill {name}");
    }

    fn wait_until_it_answers(&mut self) {
        let port = self.port;
        wait_until(|| answers(port), &mut self.child, &self.directory);
    }
}

impl Drop for RabbitMqServer {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            // One that has not come so far as to write its number is asked to end by who started it.
            match fs::read_to_string(self.directory.join("pid")) {
                Ok(pid) => signal("-KILL", pid.trim()),
                Err(_) => signal("-TERM", &self.child.id().to_string()),
            };
        }
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn spawn(directory: &Path, port: u16) -> Child {
    let _ = fs::remove_file(directory.join("pid"));
    let log = open_log(directory);
    let errors = log.try_clone().expect("the same log");
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/rabbitmq"))
        .arg(directory)
        .args(["--port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .expect("the script that serves a RabbitMQ")
}

fn answers(port: u16) -> bool {
    let mut answer = [0; 1];
    TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.write_all(HELLO)?;
            stream.read_exact(&mut answer)
        })
        .is_ok_and(|()| answer[0] == METHOD)
}

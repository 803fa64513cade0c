//! The service as its own process, for tests that kill it or stop it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use super::client::{Client, send};
use super::shop::Place;

/// A running `order-service`; killed with the test.
#[derive(Debug)]
pub struct Binary {
    child: Child,
    pub base: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Binary {
    /// Starts it on a free port and waits for the line that says where it listens.
    pub fn start(place: &Place, changes: &[(&str, &str)]) -> Self {
        let mut child = command(place, changes)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::default();
        let base = wait_for_address(lines, &log);
        Self { child, base, log }
    }

    pub fn anonymous(&self) -> Client {
        Client::new(&self.base, None)
    }

    /// Signs in through the door of development.
    pub async fn sign_in(&self, user: &str, role: &str) -> Client {
        let body = serde_json::json!({ "user_id": user, "role": role });
        let request = self
            .anonymous()
            .request(reqwest::Method::POST, "/api/dev/sign-in")
            .json(&body);
        let reply = send(request).await.expect(200);
        let token = reply.body["access_token"].as_str().unwrap().to_owned();
        Client::new(&self.base, Some(token))
    }

    /// A number of this process, as operators see it.
    pub async fn metric(&self, name: &str) -> f64 {
        let reply = reqwest::get(format!("{}/metrics", self.base)).await;
        let text = reply.unwrap().text().await.unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        // A series with labels begins with its first count.
        let absent = if name.contains('{') { "0" } else { "" };
        line.unwrap_or(absent).parse().unwrap()
    }

    /// The lines of its log since it listened that contain `text`.
    pub fn told(&self, text: &str) -> Vec<String> {
        let lines = self.log.lock().unwrap();
        let told = lines.iter().filter(|line| line.contains(text));
        told.cloned().collect()
    }

    /// SIGKILL, and the end of it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and the end of it; the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().unwrap().code()
    }

    /// Sends a signal by its name, like `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap();
        assert!(status.success(), "SIG{name} could not be sent");
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command of the binary to its end.
pub fn run(place: &Place, changes: &[(&str, &str)], arguments: &[&str]) -> Output {
    command(place, changes).args(arguments).output().unwrap()
}

/// Starts a command of the binary that the test may kill.
pub fn spawn(place: &Place, changes: &[(&str, &str)], arguments: &[&str]) -> Child {
    command(place, changes)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn command(place: &Place, changes: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_order-service"));
    command
        .env("ORDER_PROFILE", "test")
        .env("RUST_LOG", "info")
        .envs(place.environment())
        .envs(changes.iter().copied());
    command
}

/// Reads on in the background, so that the process never waits for its reader.
fn wait_for_address(
    mut lines: impl Iterator<Item = std::io::Result<String>> + Send + 'static,
    log: &Arc<Mutex<Vec<String>>>,
) -> String {
    let log = Arc::clone(log);
    let mut seen = String::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        if let Some((_, address)) = line.split_once("listening at ") {
            let address = address.trim().to_owned();
            let keep = move |line| log.lock().unwrap().push(line);
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(keep));
            return address;
        }
        seen.push_str(&line);
        seen.push('\n');
    }
    panic!("order-service ended before it listened:\n{seen}");
}

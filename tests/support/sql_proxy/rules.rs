//! When a fault happens, which one, how often; and how often it did.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::packets::Command;

/// The command that a fault befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A connection that is opened.
    Connect,
    Begin,
    /// So many statements after BEGIN; 1 is the first.
    Statement(usize),
    Commit,
    Rollback,
    /// A statement outside any transaction.
    Alone,
    /// A statement that contains this text, wherever it stands.
    Text(&'static str),
    /// Whatever a client says once it is connected.
    Anything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends before the server hears of the command.
    Cut,
    /// The server does it, then the connection ends before the client hears of it.
    CutAfter,
    /// The server hears nothing, the client neither, and no connection ends.
    Swallow,
    /// The server does it, the client never hears of it, and no connection ends.
    SwallowAfter,
    /// As `Swallow`; and the server does not hear that the client has left either, as when a network is cut in two.
    Vanish,
    /// The server hears of it only after so long.
    Delay(Duration),
    /// The server rolls back and answers with this error.
    Answer(u16),
    /// The same without a rollback: what was begun stays open.
    Refuse(u16),
}

/// A fault at a moment, from the first time on until it is lifted.
#[derive(Debug)]
pub struct Rule {
    pub moment: Moment,
    pub fault: Fault,
    /// It happens at each so-manieth command of its kind.
    every: usize,
    /// And so many times at most.
    times: usize,
    seen: AtomicUsize,
    met: AtomicUsize,
}

impl Rule {
    pub fn new(moment: Moment, fault: Fault) -> Self {
        Self {
            moment,
            fault,
            every: 1,
            times: usize::MAX,
            seen: AtomicUsize::new(0),
            met: AtomicUsize::new(0),
        }
    }

    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    pub fn every(self, every: usize) -> Self {
        Self { every, ..self }
    }

    /// How often it happened.
    pub fn met(&self) -> usize {
        self.met.load(Ordering::SeqCst)
    }

    /// The fault, when it is the turn of this command.
    pub fn strikes(&self, spoken: &Spoken) -> Option<Fault> {
        if !spoken.is_at(self.moment) {
            return None;
        }
        let seen = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        if !seen.is_multiple_of(self.every) || seen / self.every > self.times {
            return None;
        }
        self.met.fetch_add(1, Ordering::SeqCst);
        Some(self.fault)
    }
}

/// One thing that a client says, and where in its transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Empty for what is no statement.
    sql: String,
    is_connect: bool,
    /// How many statements came after BEGIN, this one included; `None` outside.
    place: Option<usize>,
}

impl Spoken {
    pub const CONNECT: Self = Self {
        sql: String::new(),
        is_connect: true,
        place: None,
    };

    fn is_at(&self, moment: Moment) -> bool {
        let is_statement = !self.sql.is_empty() && !is_control(&self.sql);
        match moment {
            Moment::Connect => self.is_connect,
            Moment::Anything => !self.is_connect,
            Moment::Begin => self.sql == "BEGIN",
            Moment::Commit => self.sql == "COMMIT",
            Moment::Rollback => self.sql == "ROLLBACK",
            Moment::Statement(place) => is_statement && self.place == Some(place),
            Moment::Alone => is_statement && self.place.is_none() && !self.sql.starts_with("SET "),
            Moment::Text(text) => self.sql.contains(text),
        }
    }
}

fn is_control(sql: &str) -> bool {
    matches!(sql, "BEGIN" | "COMMIT" | "ROLLBACK")
}

/// What is known of one connection.
#[derive(Debug, Default)]
pub struct Dialogue {
    prepared: HashMap<u32, String>,
    /// Waits for its id.
    preparing: Option<String>,
    statements: Option<usize>,
}

impl Dialogue {
    /// Takes note of a command.
    pub fn hear(&mut self, command: Command) -> Spoken {
        let sql = match command {
            Command::Query(sql) => sql,
            Command::Execute(id) => self.prepared.get(&id).cloned().unwrap_or_default(),
            Command::Prepare(sql) => {
                self.preparing = Some(sql);
                String::new()
            }
            Command::Other => String::new(),
        };
        if sql == "BEGIN" {
            self.statements = Some(0);
        } else if is_control(&sql) {
            self.statements = None;
        } else if !sql.is_empty() {
            self.statements = self.statements.map(|count| count + 1);
        }
        Spoken {
            sql,
            is_connect: false,
            place: self.statements,
        }
    }

    /// Takes note of an answer.
    pub fn answered(&mut self, prepared: impl FnOnce() -> Option<u32>) {
        if let Some(sql) = self.preparing.take()
            && let Some(id) = prepared()
        {
            self.prepared.insert(id, sql);
        }
    }
}

/// Those that hold now.
#[derive(Debug, Default)]
pub struct Rules(Mutex<Vec<std::sync::Arc<Rule>>>);

impl Rules {
    pub fn add(&self, rule: std::sync::Arc<Rule>) {
        self.0.lock().unwrap().push(rule);
    }

    pub fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    pub fn fault(&self, spoken: &Spoken) -> Option<Fault> {
        let rules = self.0.lock().unwrap();
        rules.iter().find_map(|rule| rule.strikes(spoken))
    }
}

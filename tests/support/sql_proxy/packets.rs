//! The MySQL protocol as far as a proxy has to understand it: packets, commands, an error that it makes itself.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Three bytes of length, one of sequence.
const HEADER: usize = 4;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;

/// A packet with its header.
#[derive(Debug, Clone)]
pub struct Packet(Vec<u8>);

/// What a client wants of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A statement as text.
    Query(String),
    /// A statement that is only looked at; its execution follows.
    Prepare(String),
    /// The id of a statement that was prepared.
    Execute(u32),
    Other,
}

impl Packet {
    fn new(sequence: u8, payload: &[u8]) -> Self {
        let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
        Self([&length[..3], &[sequence], payload].concat())
    }

    /// A statement as text.
    pub fn query(sql: &str) -> Self {
        Self::new(0, &[&[QUERY], sql.as_bytes()].concat())
    }

    /// The answer to a command: this error.
    pub fn error(number: u16) -> Self {
        let state = match number {
            1213 => "40001",
            1047 => "08S01",
            _ => "HY000",
        };
        let said = format!("#{state}told by the test's proxy");
        let number = number.to_le_bytes();
        Self::new(1, &[&[0xff], &number[..], said.as_bytes()].concat())
    }

    fn payload(&self) -> &[u8] {
        &self.0[HEADER..]
    }

    /// `None` while the two still greet each other: a command begins a sequence.
    pub fn command(&self) -> Option<Command> {
        let (sequence, payload) = (self.0[3], self.payload());
        if sequence != 0 {
            return None;
        }
        let text = || String::from_utf8_lossy(&payload[1..]).into_owned();
        Some(match payload.first() {
            Some(&QUERY) => Command::Query(text()),
            Some(&PREPARE) => Command::Prepare(text()),
            Some(&EXECUTE) => Command::Execute(number(&payload[1..5])),
            _ => Command::Other,
        })
    }

    /// The id that the server gave to what it prepared; `None` when it refused.
    pub fn prepared(&self) -> Option<u32> {
        let payload = self.payload();
        (payload[0] == 0).then(|| number(&payload[1..5]))
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// What comes from one side, packet by packet.
#[derive(Debug)]
pub struct Packets {
    from: OwnedReadHalf,
    read: Vec<u8>,
}

impl Packets {
    pub fn new(from: OwnedReadHalf) -> Self {
        let read = Vec::new();
        Self { from, read }
    }

    /// `None` at the end. Dropped before it returns it loses nothing.
    pub async fn next(&mut self) -> Option<Packet> {
        loop {
            if let Some(packet) = self.whole() {
                return Some(packet);
            }
            match self.from.read_buf(&mut self.read).await {
                Ok(1..) => {}
                _ => return None,
            }
        }
    }

    /// Reads, and forgets, until the other side ends.
    pub async fn drain(&mut self) {
        while self.next().await.is_some() {}
    }

    fn whole(&mut self) -> Option<Packet> {
        let header = self.read.get(..HEADER)?;
        let length = usize::try_from(number(&[header[0], header[1], header[2], 0])).unwrap();
        if self.read.len() < HEADER + length {
            return None;
        }
        Some(Packet(self.read.drain(..HEADER + length).collect()))
    }
}

/// False when the other side is gone.
pub async fn send(to: &mut OwnedWriteHalf, packet: &Packet) -> bool {
    to.write_all(&packet.0).await.is_ok()
}

//! SHA-256 of what passes by on its way to a file or from it.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

#[derive(Debug)]
pub struct Hashing<T> {
    stream: T,
    hash: Sha256,
}

impl<T> Hashing<T> {
    pub fn new(stream: T) -> Self {
        Self {
            stream,
            hash: Sha256::new(),
        }
    }

    pub fn split(self) -> (T, [u8; 32]) {
        (self.stream, self.hash.finalize().into())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(bytes)?;
        self.hash.update(bytes.get(..read).unwrap_or_default());
        Ok(read)
    }
}

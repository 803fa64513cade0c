//! The kinds of trouble with the database: their names for `/readyz` and `/metrics`, and what an operator can do.

/// What is wrong with the database as a whole, not with one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The database does not answer, or not in time.
    Unreachable,
    /// The server gives no connection, and this process has none open.
    TooManyConnections,
    /// The database takes no writes: a replica after a fail-over, or a file system mounted for reading.
    ReadOnly,
    /// The disk or a table is full.
    Full,
    /// Reading or writing a file failed.
    IoError,
    /// The `SQLite` file was removed or replaced.
    FileGone,
    /// The file is no database, or a damaged one.
    Damaged,
    /// Each COMMIT is answered with an error.
    CommitFails,
}

impl Trouble {
    pub const ALL: [Self; 8] = [
        Self::Unreachable,
        Self::TooManyConnections,
        Self::ReadOnly,
        Self::Full,
        Self::IoError,
        Self::FileGone,
        Self::Damaged,
        Self::CommitFails,
    ];

    /// What `/readyz` and the metric's label say.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TooManyConnections => "too_many_connections",
            Self::ReadOnly => "read_only",
            Self::Full => "full",
            Self::IoError => "io_error",
            Self::FileGone => "file_gone",
            Self::Damaged => "damaged",
            Self::CommitFails => "commit_fails",
        }
    }

    /// Whether reads may work meanwhile, so that only a write that was stored shows its end.
    pub const fn spares_reads(self) -> bool {
        !matches!(
            self,
            Self::Unreachable | Self::TooManyConnections | Self::FileGone
        )
    }

    /// What an operator can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Unreachable => "look whether the server runs and the network reaches it",
            Self::TooManyConnections => {
                "raise the server's max_connections, or lower database.max_connections"
            }
            Self::ReadOnly => "look where the writer is; connections of before are closed",
            Self::Full => "make room on the database's disk",
            Self::IoError => "look at the database's disk",
            Self::FileGone => "put the file of database.url back",
            Self::Damaged => "restore the database from a backup",
            Self::CommitFails => "look at the server's log",
        }
    }
}

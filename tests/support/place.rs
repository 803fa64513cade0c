//! Where a test runs: the profile, and a database, keys and queues of its own.

use std::path::PathBuf;

use sea_orm::ConnectionTrait;
use tempfile::TempDir;
use uuid::Uuid;

/// Which parts the tests run on: `TEST_PROFILE`, `sqlite` unless it says `mysql`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Sqlite,
    Mysql,
}

impl Profile {
    pub fn current() -> Self {
        match std::env::var("TEST_PROFILE").as_deref() {
            Err(_) | Ok("sqlite") => Self::Sqlite,
            Ok("mysql") => Self::Mysql,
            Ok(other) => panic!("TEST_PROFILE is sqlite or mysql, not {other}"),
        }
    }
}

/// The settings that lead to a database of a test's own.
#[derive(Debug)]
pub struct Place {
    pub overrides: Vec<(String, String)>,
    /// Holds the SQLite file and the archive; gone with the test.
    folder: TempDir,
}

impl Place {
    /// A database in this run's profile, and keys in Redis of its own.
    pub async fn fresh() -> Self {
        let folder = TempDir::new().unwrap();
        let mut overrides = match Profile::current() {
            Profile::Sqlite => {
                let url = format!("sqlite://{}/orders.db", folder.path().display());
                vec![("database.url".to_owned(), url)]
            }
            Profile::Mysql => mysql_overrides(&variable("TEST_MYSQL_URL")).await,
        };
        let archive = folder.path().join("archive").display().to_string();
        overrides.push(("archive.directory".to_owned(), archive));
        Self { overrides, folder }
    }

    /// Where the archive of this place lies.
    pub fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    /// The same settings for the binary.
    pub fn environment(&self) -> Vec<(String, String)> {
        self.overrides
            .iter()
            .map(|(key, value)| {
                (
                    format!("ORDER__{}", key.replace('.', "__")).to_uppercase(),
                    value.clone(),
                )
            })
            .collect()
    }
}

async fn mysql_overrides(server: &str) -> Vec<(String, String)> {
    let name = format!("test_{}", Uuid::new_v4().simple());
    create_database(server, &name).await;
    let pair = |key: &str, value: String| (key.to_owned(), value);
    vec![
        pair("database.url", format!("{server}/{name}")),
        pair("redis.url", variable("TEST_REDIS_URL")),
        pair("redis.key_prefix", format!("{name}:")),
        pair("rabbitmq.url", variable("TEST_RABBITMQ_URL")),
        pair("rabbitmq.prefix", name.clone()),
    ]
}

/// Makes an empty database on a server.
pub async fn create_database(server: &str, name: &str) {
    let connection = sea_orm::Database::connect(server).await.unwrap();
    connection
        .execute_unprepared(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// What `scripts/with-services` tells the tests.
pub fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run `make test PROFILE=mysql`"))
}

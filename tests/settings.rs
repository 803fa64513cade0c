//! Settings: what cannot be meant stops the start with a sentence that names it and tells no secret.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::binary::run;
use crate::support::shop::Place;

/// Long enough for production.
pub const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A setting, a value that it cannot have, and what the sentence names.
const IMPOSSIBLE: [(&str, &str, &str); 56] = [
    ("ORDER__SERVR__PORT", "8080", "servr"),
    ("ORDER__SERVER__PROT", "8080", "prot"),
    ("ORDER__SERVER__PORT__X", "8080", "server.port"),
    ("ORDER__SERVER__PORT", "65536", "server.port"),
    ("ORDER__SERVER__PORT", "-1", "server.port"),
    ("ORDER__SERVER__PORT", "http", "server.port"),
    ("ORDER__SERVER__HOST", "", "ORDER__SERVER__HOST"),
    ("ORDER__SERVER__WORKERS", "100000", "ORDER__SERVER__WORKERS"),
    ("ORDER__DATABASE__URL", "", "ORDER__DATABASE__URL"),
    ("ORDER__DATABASE__URL", "orders.db", "ORDER__DATABASE__URL"),
    (
        "ORDER__DATABASE__URL",
        "postgres://localhost/orders",
        "ORDER__DATABASE__URL",
    ),
    (
        "ORDER__DATABASE__URL",
        "sqlite::memory:",
        "ORDER__DATABASE__URL",
    ),
    (
        "ORDER__DATABASE__URL",
        "mysql://localhost:port/orders",
        "ORDER__DATABASE__URL",
    ),
    (
        "ORDER__DATABASE__MAX_CONNECTIONS",
        "0",
        "ORDER__DATABASE__MAX_CONNECTIONS",
    ),
    (
        "ORDER__DATABASE__MAX_CONNECTIONS",
        "4294967295",
        "ORDER__DATABASE__MAX_CONNECTIONS",
    ),
    (
        "ORDER__DATABASE__ACQUIRE_TIMEOUT",
        "0s",
        "ORDER__DATABASE__ACQUIRE_TIMEOUT",
    ),
    ("ORDER__DATABASE__MIGRATE", "perhaps", "database.migrate"),
    ("ORDER__EVENTS__POLL", "0s", "ORDER__EVENTS__POLL"),
    ("ORDER__EVENTS__LEASE", "1ms", "ORDER__EVENTS__LEASE"),
    ("ORDER__EVENTS__ATTEMPTS", "0", "ORDER__EVENTS__ATTEMPTS"),
    ("ORDER__POINTS__UNIT", "0", "ORDER__POINTS__UNIT"),
    ("ORDER__RABBITMQ__PREFIX", "", "ORDER__RABBITMQ__PREFIX"),
    ("ORDER__RABBITMQ__PREFIX", "a b", "ORDER__RABBITMQ__PREFIX"),
    (
        "ORDER__RABBITMQ__PREFETCH",
        "0",
        "ORDER__RABBITMQ__PREFETCH",
    ),
    (
        "ORDER__RABBITMQ__PREFETCH",
        "1001",
        "ORDER__RABBITMQ__PREFETCH",
    ),
    ("ORDER__RABBITMQ__PREFETCH", "65536", "rabbitmq.prefetch"),
    (
        "ORDER__RABBITMQ__TIMEOUT",
        "1ms",
        "ORDER__RABBITMQ__TIMEOUT",
    ),
    ("ORDER__REDIS__URL", "localhost:6379", "ORDER__REDIS__URL"),
    ("ORDER__REDIS__URL", "http://localhost", "ORDER__REDIS__URL"),
    (
        "ORDER__AUTH__DEV_TOKEN_TTL",
        "250000y",
        "ORDER__AUTH__DEV_TOKEN_TTL",
    ),
    ("ORDER__TOKEN__TTL", "soon", "token.ttl"),
    ("ORDER__TOKEN__TTL", "30", "token.ttl"),
    ("ORDER__TOKEN__TTL", "-5m", "token.ttl"),
    ("ORDER__TOKEN__TTL", "0s", "ORDER__TOKEN__TTL"),
    ("ORDER__TOKEN__TTL", "8000y", "ORDER__TOKEN__TTL"),
    (
        "ORDER__ORDERS__PAYMENT_WINDOW",
        "0s",
        "ORDER__ORDERS__PAYMENT_WINDOW",
    ),
    (
        "ORDER__ORDERS__PAYMENT_WINDOW",
        "8000y",
        "ORDER__ORDERS__PAYMENT_WINDOW",
    ),
    (
        "ORDER__ORDERS__TYPES__NORMAL__POLICY",
        "two",
        "orders.types.normal.policy",
    ),
    ("ORDER__ORDERS__TYPES__AUCTION__LOCK", "true", "auction"),
    ("ORDER__GATE__LEASE", "0s", "ORDER__GATE__LEASE"),
    ("ORDER__LOCK__LEASE", "0s", "ORDER__LOCK__LEASE"),
    (
        "ORDER__BULKHEAD__TRANSACTIONS",
        "0",
        "ORDER__BULKHEAD__TRANSACTIONS",
    ),
    (
        "ORDER__BULKHEAD__TRANSACTIONS",
        "18446744073709551615",
        "ORDER__BULKHEAD__TRANSACTIONS",
    ),
    ("ORDER__IDS__LEASE", "0s", "ORDER__IDS__LEASE"),
    (
        "ORDER__ARCHIVE__RETENTION",
        "0s",
        "ORDER__ARCHIVE__RETENTION",
    ),
    (
        "ORDER__ARCHIVE__RETENTION",
        "6d 23h",
        "ORDER__ARCHIVE__RETENTION",
    ),
    ("ORDER__TOKEN__TTL", "31d", "ORDER__TOKEN__TTL"),
    ("ORDER__ARCHIVE__DIRECTORY", "", "ORDER__ARCHIVE__DIRECTORY"),
    ("ORDER__ARCHIVE__BATCH", "0", "ORDER__ARCHIVE__BATCH"),
    ("ORDER__ARCHIVE__SLICE", "10001", "ORDER__ARCHIVE__SLICE"),
    ("ORDER__ARCHIVE__PAUSE", "2m", "ORDER__ARCHIVE__PAUSE"),
    ("ORDER__ARCHIVE__WINDOW", "0s", "ORDER__ARCHIVE__WINDOW"),
    (
        "ORDER__ARCHIVE__TABLES__ORDER_EVENT",
        "burn",
        "archive.tables.order_event",
    ),
    ("ORDER__JOBS__LEASE", "0s", "ORDER__JOBS__LEASE"),
    ("ORDER_PROFILE", "prod", "ORDER_PROFILE"),
    ("ORDER_PROFILE", "", "ORDER_PROFILE"),
];

#[test]
fn what_is_misspelt_or_impossible_stops_the_start() {
    for (setting, value, named) in IMPOSSIBLE {
        let folder = TempDir::new().unwrap();

        let output = migrate(folder.path(), &[(setting, value)]);

        let said = refusal(&output);
        assert!(said.contains(named), "{setting}={value}: {said}");
    }
}

#[test]
fn every_setting_of_the_handbook_is_known() {
    let folder = TempDir::new().unwrap();
    let archive = folder.path().join("archive");

    let output = migrate(
        folder.path(),
        &[
            ("ORDER__SERVER__HOST", "0.0.0.0"),
            ("ORDER__SERVER__PORT", "8080"),
            ("ORDER__REDIS__URL", ""),
            ("ORDER__RABBITMQ__URL", ""),
            ("ORDER__AUTH__JWT_SECRET", SECRET),
            ("ORDER__AUTH__DEV_SIGN_IN", "false"),
            ("ORDER__TOKEN__SECRET", SECRET),
            ("ORDER__TOKEN__TTL", "45m"),
            (
                "ORDER__SANDBOX__SECRET",
                "whsec_c2FuZGJveC1kZXZlbG9wbWVudC1vbmx5",
            ),
            ("ORDER__ORDERS__PAYMENT_WINDOW", "20m"),
            ("ORDER__ARCHIVE__DIRECTORY", archive.to_str().unwrap()),
            ("ORDER__ARCHIVE__RETENTION", "60d"),
        ],
    );

    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn the_environment_beats_the_folder_and_the_folder_what_is_built_in() {
    let folder = TempDir::new().unwrap();
    let ttl = |file: &str, ttl: &str| {
        fs::create_dir_all(folder.path().join("config")).unwrap();
        let path = folder.path().join("config").join(file);
        fs::write(path, format!("[token]\nttl = \"{ttl}\"\n")).unwrap();
    };

    ttl("default.toml", "0s");
    let by_default = migrate(folder.path(), &[]);
    let overridden = migrate(folder.path(), &[("ORDER__TOKEN__TTL", "5m")]);
    ttl("test.toml", "5m");
    let by_profile = migrate(folder.path(), &[]);
    ttl("test.toml", "0s");
    ttl("default.toml", "5m");
    let by_profile_again = migrate(folder.path(), &[]);
    ttl("test.toml", "5m\" oops");
    let broken = migrate(folder.path(), &[]);

    assert!(refusal(&by_default).contains("ORDER__TOKEN__TTL"));
    assert!(overridden.status.success() && by_profile.status.success());
    assert!(refusal(&by_profile_again).contains("ORDER__TOKEN__TTL"));
    assert!(text(&broken).contains("test.toml"), "{}", refusal(&broken));
}

#[actix_web::test]
async fn a_port_that_is_taken_is_named() {
    let place = Place::fresh().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();

    let output = run(&place, &[("ORDER__SERVER__PORT", &port)], &["serve"]);

    let said = refusal(&output);
    assert!(
        said.contains("ORDER__SERVER__PORT") && said.contains(&port),
        "{said}"
    );
}

/// Reads all settings, connects and ends; a database of the folder's own unless told otherwise.
pub fn migrate(folder: &Path, environment: &[(&str, &str)]) -> Output {
    let url = format!("sqlite://{}/orders.db", folder.display());
    Command::new(env!("CARGO_BIN_EXE_order-service"))
        .arg("migrate")
        .current_dir(folder)
        .env("ORDER_PROFILE", "test")
        .env("ORDER__DATABASE__URL", url)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// The one sentence that a start was refused with.
#[track_caller]
pub fn refusal(output: &Output) -> String {
    let said = text(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let sentence = said
        .lines()
        .find_map(|line| line.strip_prefix("order-service: "));
    let sentence = sentence.unwrap_or_else(|| panic!("no sentence in {said}"));
    assert!(sentence.len() < 400, "{sentence}");
    sentence.to_owned()
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

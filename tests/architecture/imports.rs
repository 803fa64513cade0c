//! The import rule: doors → rooms → tools → rules → tables; never up, never sideways between tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::rust_files;

/// What each layer may name after `crate::`.
const MAY_USE: [(&str, &[&str]); 15] = [
    ("domain", &["domain"]),
    (
        "gateways",
        &[
            "clock", "database", "deadline", "domain", "error", "gateways", "settings",
        ],
    ),
    (
        "jobs",
        &[
            "app",
            "consumers",
            "database",
            "domain",
            "error",
            "events",
            "jobs",
            "services",
        ],
    ),
    (
        "consumers",
        &[
            "app",
            "consumers",
            "database",
            "domain",
            "error",
            "events",
            "services",
        ],
    ),
    ("events", &["domain", "error", "events"]),
    ("files", &["domain", "error", "files"]),
    (
        "instance",
        &[
            "clock",
            "database",
            "domain",
            "error",
            "instance",
            "repositories",
        ],
    ),
    ("metrics", &["metrics"]),
    ("command_line", &[]),
    ("settings", &["domain", "settings"]),
    (
        "repositories",
        &["database", "domain", "error", "repositories"],
    ),
    (
        "idempotency",
        &["auth", "domain", "error", "idempotency", "metrics"],
    ),
    (
        "database",
        &["database", "deadline", "error", "metrics", "settings"],
    ),
    (
        "services",
        &[
            "app",
            "auth",
            "clock",
            "database",
            "deadline",
            "domain",
            "error",
            "events",
            "files",
            "gateways",
            "idempotency",
            "metrics",
            "repositories",
            "services",
            "settings",
        ],
    ),
    (
        "controllers",
        &[
            "app",
            "auth",
            "controllers",
            "deadline",
            "error",
            "idempotency",
            "metrics",
            "services",
            "settings",
        ],
    ),
];

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for (layer, allowed) in MAY_USE {
        for file in rust_files(&Path::new("src").join(layer)) {
            for name in crate_imports(&fs::read_to_string(&file).unwrap()) {
                if !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{} uses crate::{name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_folder_of_the_source_has_its_rule() {
    let folders: BTreeSet<String> = fs::read_dir("src")
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();

    let ruled = MAY_USE
        .iter()
        .map(|(layer, _)| (*layer).to_owned())
        .collect();

    assert_eq!(folders, ruled);
}

#[test]
fn only_services_begin_transactions() {
    for layer in ["controllers", "repositories", "idempotency", "domain"] {
        for file in rust_files(&Path::new("src").join(layer)) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                !text.contains(".transaction("),
                "{} begins one",
                file.display()
            );
        }
    }
}

/// The first name behind every `crate::`, groups and inner modules included.
fn crate_imports(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let listed = rest
            .strip_prefix('{')
            .map(|group| group.split('}').next().unwrap_or(group));
        for name in
            listed
                .unwrap_or(rest)
                .split(',')
                .take(if listed.is_some() { usize::MAX } else { 1 })
        {
            let name: String = name
                .trim()
                .chars()
                .take_while(|char| char.is_alphanumeric() || *char == '_')
                .collect();
            names.insert(name);
        }
    }
    names
}

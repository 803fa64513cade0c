//! What the documents say of the tree is so: every file that they name is there, and has what they say is in it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where a name in a document may begin.
const ROOTS: [&str; 4] = ["", "src", "tests", "src/services"];

#[test]
fn files_and_functions_that_the_documents_name_are_there() {
    let mut missing = Vec::new();
    let mut found = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        for name in names(&fs::read_to_string(document).unwrap()) {
            let (path, function) = name.split_once("::").unwrap_or((&name, ""));
            match file(path) {
                Some(path) if has(&path, function) => found += 1,
                _ => missing.push(format!("{document}: {name}")),
            }
        }
    }

    assert!(found > 60, "only {found} names were found");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What stands between backticks and reads like a file of ours, a folder of the source, or a test (`module::its_name`).
fn names(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| !name.contains(['<', ' ', '{']))
        .filter(|name| {
            let path = name.split("::").next().unwrap_or(name);
            let is_file = is_rust(path) || path.starts_with("src/");
            is_file || path.starts_with("tests/") || is_test(name)
        })
        .map(|name| match name.split_once("::") {
            Some((module, function)) if is_test(name) => format!("tests/{module}.rs::{function}"),
            _ => name.to_owned(),
        })
        .collect()
}

/// A sentence of small letters in a module; types have great ones.
fn is_test(name: &str) -> bool {
    let is_name = |part: &str| {
        part.chars()
            .all(|char| char.is_ascii_lowercase() || char == '_')
    };
    name.split_once("::")
        .is_some_and(|(module, function)| is_name(module) && is_name(function))
}

/// The file or folder, whose name may leave out where it lies among the tests.
fn file(path: &str) -> Option<PathBuf> {
    ROOTS
        .into_iter()
        .map(|root| Path::new(root).join(path))
        .find(|path| path.exists())
}

fn has(path: &Path, function: &str) -> bool {
    function.is_empty()
        || fs::read_to_string(path).is_ok_and(|text| {
            text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"))
        })
}

fn is_rust(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "rs")
}

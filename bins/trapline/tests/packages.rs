//! The only edges that the package graph may have.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, env, process::Command};

use serde_json::Value;

const ALLOWED: [(&str, &[&str]); 19] = [
    ("model", &[]),
    ("mime", &["model"]),
    ("checks", &["mime", "model"]),
    ("mocks", &["model"]),
    ("store", &["model"]),
    ("smtp", &["model"]),
    ("backup", &["store", "model"]),
    ("embedded", &["store", "model"]),
    ("cluster", &["store", "model"]),
    ("app", &["checks", "store", "mime", "mocks", "model"]),
    ("api", &["app", "model"]),
    ("console", &[]),
    ("idp", &["app", "model"]),
    ("worker", &["app", "model"]),
    (
        "trapline",
        &[
            "api", "app", "backup", "cluster", "console", "embedded", "idp", "model", "smtp",
            "store", "worker",
        ],
    ),
    ("hooksink", &[]),
    ("smtpblast", &[]),
    ("relay-testkit", &[]),
    ("tests", &["relay-testkit"]),
];

#[test]
fn packages_use_only_what_they_may() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let args = ["metadata", "--no-deps", "--format-version=1", "--manifest-path", manifest];
    let output = Command::new(cargo).args(args).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed = BTreeMap::from(ALLOWED);
    for package in metadata["packages"].as_array().unwrap() {
        let name = short(&package["name"]);
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the list"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let ours = dependency["path"].is_string() && dependency["kind"].is_null();
            let other = short(&dependency["name"]);
            assert!(!ours || may.contains(&other), "{name} must not use {other}");
        }
    }
}

/// What lines of `cargo tree` with features begin with where something can ask others over HTTP.
const HTTP_CLIENTS: [&str; 8] = [
    "reqwest v",
    "ureq v",
    "isahc v",
    "curl v",
    "attohttpc v",
    "hyper-rustls v",
    "hyper feature \"client\"",
    "hyper-util feature \"client",
];

/// Whatever a request at a mock identity provider names, nothing can fetch it.
#[test]
fn mock_identity_providers_have_no_http_client() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let args = ["tree", "--locked", "--offline", "--package=trapline-idp", "--prefix=none"];
    let more = ["--edges=normal,features", "--manifest-path", manifest];
    let output = Command::new(cargo).args(args).args(more).output().unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    assert!(tree.contains("hyper feature \"server\""), "{tree}");
    for line in tree.lines() {
        assert!(!HTTP_CLIENTS.iter().any(|client| line.starts_with(client)), "{line}");
    }
}

fn short(name: &Value) -> &str {
    let name = name.as_str().unwrap();
    name.strip_prefix("trapline-").unwrap_or(name)
}

//! The `OpenAPI` document in the hands of others: linters, and generators of clients.

use tokio::process::Command;
use trapline_tests::shared;

use crate::tools::{run, source};

/// Runs these parts of the script over a running server.
async fn clients(parts: &[&str]) {
    let server = shared();
    let mut script = Command::new(source("openapi/run.sh"));
    script.arg(server.api().remove(0)).arg(server.team().key()).args(parts);
    let report = run(script).await;
    for part in parts {
        assert!(report.contains(part), "{report}");
    }
}

#[tokio::test]
async fn linters_find_nothing_and_typescript_clients_work() {
    clients(&["lint", "typescript"]).await;
}

#[tokio::test]
#[ignore = "takes minutes, and downloads generators at its first run"]
async fn generated_clients_compile_and_work() {
    clients(&["python", "oapi-codegen", "generator-go", "generator-java"]).await;
}

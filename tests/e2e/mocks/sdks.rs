//! The providers' own SDKs: each runs the snippets of its mock, and goes on with what they make.

use std::io::Write as _;

use serde_json::Value;
use tokio::process::Command;
use trapline_tests::{Deployment, shared};

use super::mock;
use crate::tools::{run, source, tool};

/// The mock's own snippets of a language, and after them a program that goes on with what they make.
fn program(mock: &Value, language: &str, name: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for snippet in mock["snippets"].as_array().unwrap() {
        if snippet["language"] == language {
            writeln!(file, "{}", snippet["code"].as_str().unwrap()).unwrap();
        }
    }
    file.write_all(&std::fs::read(source(name)).unwrap()).unwrap();
    file
}

fn environment(server: &Deployment, mock: &Value) -> [(&'static str, String); 3] {
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let request = server.rest().request("GET", &path).build().unwrap();
    let key = request.headers()["authorization"].to_str().unwrap().to_owned();
    [
        ("MOCK", request.url().to_string()),
        ("API_KEY", key.trim_start_matches("Bearer ").to_owned()),
        ("RECEIVER", "127.0.0.1".to_owned()),
    ]
}

/// A file with the server's own certificate authority, for clients that are to trust it.
async fn authority(server: &Deployment) -> tempfile::NamedTempFile {
    let pem = server.anonymous().get("/api/smtp/ca.pem").await.expect(200);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.text().as_bytes()).unwrap();
    file
}

async fn python(provider: &str, what: &str) {
    let server = shared();
    let (mock, ca) = (mock(&server.rest(), provider).await, authority(&server).await);
    let script = program(&mock, "python", &format!("mocks/{provider}_{what}.py"));
    let mut python = Command::new(tool("mocks/bin/python"));
    python.arg(script.path()).envs(environment(&server, &mock)).env("CA", ca.path());
    python.env("PYTHONPATH", source("mocks"));
    assert_eq!(run(python).await.trim(), "ok");
}

async fn node(provider: &str, what: &str) {
    let server = shared();
    let (mock, ca) = (mock(&server.rest(), provider).await, authority(&server).await);
    let script = program(&mock, "node", &format!("mocks/{provider}_{what}.js"));
    let mut node = Command::new("node");
    node.arg(script.path()).envs(environment(&server, &mock));
    node.env("NODE_EXTRA_CA_CERTS", ca.path());
    let places = [tool("mocks-node/node_modules"), source("mocks")];
    node.env("NODE_PATH", std::env::join_paths(places).unwrap());
    assert_eq!(run(node).await.trim(), "ok");
}

#[tokio::test]
async fn stripes_sdk_for_python_works() {
    python("stripe", "acceptance").await;
}

#[tokio::test]
async fn stripes_sdk_for_node_works() {
    node("stripe", "acceptance").await;
}

#[tokio::test]
async fn plaids_sdk_for_python_works() {
    python("plaid", "acceptance").await;
}

#[tokio::test]
async fn plaids_sdk_for_node_works() {
    node("plaid", "acceptance").await;
}

#[tokio::test]
async fn onfidos_sdk_for_python_works() {
    python("onfido", "acceptance").await;
}

#[tokio::test]
async fn onfidos_sdk_for_node_works() {
    node("onfido", "acceptance").await;
}

#[tokio::test]
async fn docusigns_sdk_for_python_works() {
    python("docusign", "acceptance").await;
}

#[tokio::test]
async fn docusigns_sdk_for_node_works() {
    node("docusign", "acceptance").await;
}

#[tokio::test]
async fn segments_sdk_for_python_works() {
    python("segment", "acceptance").await;
}

#[tokio::test]
async fn segments_sdk_for_node_works() {
    node("segment", "acceptance").await;
}

#[tokio::test]
async fn airtables_sdk_for_python_works() {
    python("airtable", "acceptance").await;
}

#[tokio::test]
async fn airtables_sdk_for_node_works() {
    node("airtable", "acceptance").await;
}

#[tokio::test]
async fn xeros_sdk_for_python_works() {
    python("xero", "acceptance").await;
}

#[tokio::test]
async fn xeros_sdk_for_node_works() {
    node("xero", "acceptance").await;
}

#[tokio::test]
async fn twilios_sdk_for_python_works() {
    python("twilio", "acceptance").await;
}

#[tokio::test]
async fn twilios_sdk_for_node_works() {
    node("twilio", "acceptance").await;
}

#[tokio::test]
async fn hubspots_sdk_for_python_works() {
    python("hubspot", "acceptance").await;
}

#[tokio::test]
async fn hubspots_sdk_for_node_works() {
    node("hubspot", "acceptance").await;
}

#[tokio::test]
async fn docusigns_sdk_for_python_gets_tokens_over_tls() {
    python("docusign", "oauth").await;
}

#[tokio::test]
async fn docusigns_sdk_for_node_gets_tokens_over_tls() {
    node("docusign", "oauth").await;
}

#[tokio::test]
async fn xeros_sdk_for_python_gets_tokens_over_tls() {
    python("xero", "oauth").await;
}

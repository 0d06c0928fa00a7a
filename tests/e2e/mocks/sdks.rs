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

async fn python(provider: &str) {
    let server = shared();
    let mock = mock(&server.rest(), provider).await;
    let script = program(&mock, "python", &format!("mocks/{provider}_acceptance.py"));
    let mut python = Command::new(tool("mocks/bin/python"));
    python.arg(script.path()).envs(environment(&server, &mock));
    python.env("PYTHONPATH", source("mocks"));
    assert_eq!(run(python).await.trim(), "ok");
}

async fn node(provider: &str) {
    let server = shared();
    let mock = mock(&server.rest(), provider).await;
    let script = program(&mock, "node", &format!("mocks/{provider}_acceptance.js"));
    let mut node = Command::new("node");
    node.arg(script.path()).envs(environment(&server, &mock));
    let places = [tool("mocks-node/node_modules"), source("mocks")];
    node.env("NODE_PATH", std::env::join_paths(places).unwrap());
    assert_eq!(run(node).await.trim(), "ok");
}

#[tokio::test]
async fn stripes_sdk_for_python_works() {
    python("stripe").await;
}

#[tokio::test]
async fn stripes_sdk_for_node_works() {
    node("stripe").await;
}

#[tokio::test]
async fn plaids_sdk_for_python_works() {
    python("plaid").await;
}

#[tokio::test]
async fn plaids_sdk_for_node_works() {
    node("plaid").await;
}

#[tokio::test]
async fn onfidos_sdk_for_python_works() {
    python("onfido").await;
}

#[tokio::test]
async fn onfidos_sdk_for_node_works() {
    node("onfido").await;
}

#[tokio::test]
async fn docusigns_sdk_for_python_works() {
    python("docusign").await;
}

#[tokio::test]
async fn docusigns_sdk_for_node_works() {
    node("docusign").await;
}

#[tokio::test]
async fn segments_sdk_for_python_works() {
    python("segment").await;
}

#[tokio::test]
async fn segments_sdk_for_node_works() {
    node("segment").await;
}

#[tokio::test]
async fn airtables_sdk_for_python_works() {
    python("airtable").await;
}

#[tokio::test]
async fn airtables_sdk_for_node_works() {
    node("airtable").await;
}

#[tokio::test]
async fn xeros_sdk_for_python_works() {
    python("xero").await;
}

#[tokio::test]
async fn xeros_sdk_for_node_works() {
    node("xero").await;
}

#[tokio::test]
async fn twilios_sdk_for_python_works() {
    python("twilio").await;
}

#[tokio::test]
async fn twilios_sdk_for_node_works() {
    node("twilio").await;
}

#[tokio::test]
async fn hubspots_sdk_for_python_works() {
    python("hubspot").await;
}

#[tokio::test]
async fn hubspots_sdk_for_node_works() {
    node("hubspot").await;
}

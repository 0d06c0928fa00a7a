//! Mock identity providers.

mod conformance;
mod crash;
mod faults;
mod foreign;
mod https;
mod manage;
mod races;
mod refusals;
mod rp;
mod saml;
mod secrets;
mod sessions;
mod sign_in;
mod stacks;
mod users;

use serde_json::{Value, json};
use trapline_tests::Rest;

/// A provider that browsers may be sent back from to `uri`.
async fn provider(rest: &Rest, uri: &str) -> Value {
    let new = json!({ "name": "Staging", "redirectUris": [uri] });
    rest.post("/api/idps", new).await.expect(201).json()
}

/// The path of a provider.
fn path_of(idp: &Value) -> String {
    format!("/api/idps/{}", idp["id"].as_str().unwrap())
}

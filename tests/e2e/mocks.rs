//! Mocks of other providers' APIs, called by the providers' own SDKs.

mod apps;
mod crash;
mod handshakes;
mod limits;
mod pages;
mod races;
mod sdks;

use serde_json::{Value, json};
use trapline_tests::{Answer, Rest};

async fn mock(rest: &Rest, provider: &str) -> Value {
    let new = json!({ "name": "Ours", "provider": provider });
    rest.post("/api/mocks", new).await.expect(201).json()
}

/// What a mock keeps of a kind.
async fn objects(rest: &Rest, mock: &Value, kind: &str) -> Vec<Value> {
    let id = mock["id"].as_str().unwrap();
    let path = format!("/api/mocks/{id}/objects?kind={kind}&limit=200");
    rest.get(&path).await.expect(200).json().as_array().unwrap().clone()
}

/// A call as an SDK makes it.
async fn call(mock: &Value, path: &str, form: &[(&str, &str)]) -> Answer {
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    let form: Vec<_> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = rest.request("POST", path);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Answer::to(request.body(form.join("&"))).await
}

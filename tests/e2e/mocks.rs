//! Mocks of other providers' APIs, called by the providers' own SDKs.

mod apps;
mod crash;
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

/// A call as an SDK makes it.
async fn call(mock: &Value, path: &str, form: &[(&str, &str)]) -> Answer {
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    let form: Vec<_> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = rest.request("POST", path);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Answer::to(request.body(form.join("&"))).await
}

//! Mocks of other providers' APIs, called by the providers' own SDKs.

mod apps;
mod crash;
mod limits;
mod pages;
mod races;
mod sdks;

use serde_json::{Value, json};
use trapline_tests::{Answer, Rest};

const PAID: &[(&str, &str)] = &[
    ("amount", "1000"),
    ("currency", "usd"),
    ("confirm", "true"),
    ("payment_method", "pm_card_visa"),
];

async fn mock(rest: &Rest, provider: &str) -> Value {
    let new = json!({ "name": "Ours", "provider": provider });
    rest.post("/api/mocks", new).await.expect(201).json()
}

/// A call as an SDK makes it.
async fn call(mock: &Value, path: &str, form: &[(&str, &str)], key: Option<&str>) -> Answer {
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    let form: Vec<_> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = rest.request("POST", path);
    let mut request =
        request.header("content-type", "application/x-www-form-urlencoded").body(form.join("&"));
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    Answer::to(request).await
}

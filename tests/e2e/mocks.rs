//! Mocks of other providers' APIs, called by the providers' own SDKs.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use trapline_tests::{Answer, Rest, shared};

mod sdks;

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

/// Among processes too: the calls go to one address, of which the state is one partition.
#[tokio::test]
async fn calls_that_race_have_one_winner() {
    let server = shared();
    let mock = mock(&server.rest(), "stripe").await;
    let mut same = JoinSet::new();
    for _ in 0..16 {
        let mock = mock.clone();
        same.spawn(async move { call(&mock, "/v1/payment_intents", PAID, Some("once")).await });
    }
    let answers = same.join_all().await;
    let made = answers.iter().filter(|answer| answer.status == 200);
    let ids: Vec<_> = made.map(|answer| answer.json()["id"].clone()).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    // A call that others overtook again and again is the provider's 503, and no charge.
    assert!(answers.iter().all(|answer| [200, 503].contains(&answer.status)), "{answers:?}");
    let intent = ids[0].as_str().unwrap().to_owned();
    let mut refunds = JoinSet::new();
    for _ in 0..16 {
        let (mock, intent) = (mock.clone(), intent.clone());
        refunds.spawn(async move {
            let form = [("payment_intent", intent.as_str()), ("amount", "500")];
            call(&mock, "/v1/refunds", &form, None).await.status
        });
    }
    let refunded = refunds.join_all().await.into_iter().filter(|status| *status == 200).count();
    assert!((1..=2).contains(&refunded), "{refunded}");
    let path = format!("/api/mocks/{}/objects?kind=charges", mock["id"].as_str().unwrap());
    let charges = server.rest().get(&path).await.expect(200).json();
    let of_refunds = charges[0]["object"]["amount_refunded"].as_u64().unwrap();
    assert_eq!((charges.as_array().unwrap().len(), of_refunds), (1, 500 * refunded as u64));
}

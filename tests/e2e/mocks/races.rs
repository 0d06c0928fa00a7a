//! Calls that race have one winner, on any number of processes: what a mock keeps is one partition, and its calls go to
//! all of them in turn.

use std::collections::HashSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use trapline_tests::{Answer, Rest, shared};

use super::{PAID, call, mock};

/// Calls at once.
const AT_ONCE: usize = 64;
const INTENTS: &str = "/v1/payment_intents";

/// The app that calls a mock. One client makes all calls: many that are made meanwhile keep each other waiting.
fn app(mock: &Value) -> Rest {
    let secret = mock["credentials"]["secretKey"].as_str();
    Rest::new(mock["baseUrl"].as_str().unwrap(), secret)
}

/// The answers to the same call, made so many times at once.
async fn raced(mock: &Value, path: &str, form: &[(&str, &str)], key: Option<&str>) -> Vec<Answer> {
    let app = app(mock);
    let form: Vec<_> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let form = form.join("&");
    let calls = (0..AT_ONCE).map(|_| {
        let request = app.request("POST", path).body(form.clone());
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Answer::to(match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        })
    });
    join_all(calls).await
}

async fn objects(rest: &Rest, mock: &Value, kind: &str) -> Vec<Value> {
    let path = format!("/api/mocks/{}/objects?kind={kind}&limit=200", mock["id"].as_str().unwrap());
    rest.get(&path).await.expect(200).json().as_array().unwrap().clone()
}

fn with_status(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

#[tokio::test]
async fn one_key_makes_one_object_and_the_same_answer() {
    let server = shared();
    let mock = mock(&server.rest(), "stripe").await;
    let answers = raced(&mock, INTENTS, PAID, Some("once")).await;
    assert_eq!(with_status(&answers, 200), AT_ONCE, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.json() == answers[0].json()));
    assert_eq!(objects(&server.rest(), &mock, "payments").await.len(), 1);
    assert_eq!(objects(&server.rest(), &mock, "charges").await.len(), 1);
}

#[tokio::test]
async fn one_payment_that_is_confirmed_again_and_again_has_one_charge() {
    let server = shared();
    let mock = mock(&server.rest(), "stripe").await;
    let form = [("amount", "1000"), ("currency", "usd"), ("payment_method", "pm_card_visa")];
    let intent = call(&mock, INTENTS, &form, None).await.expect(200).json();
    let path = format!("{INTENTS}/{}/confirm", intent["id"].as_str().unwrap());
    let answers = raced(&mock, &path, &[], None).await;
    assert_eq!((with_status(&answers, 200), with_status(&answers, 400)), (1, AT_ONCE - 1));
    assert_eq!(objects(&server.rest(), &mock, "charges").await.len(), 1);
}

#[tokio::test]
async fn no_more_is_refunded_than_was_paid() {
    let server = shared();
    let mock = mock(&server.rest(), "stripe").await;
    let intent = call(&mock, INTENTS, PAID, None).await.expect(200).json();
    let form = [("payment_intent", intent["id"].as_str().unwrap()), ("amount", "500")];
    let answers = raced(&mock, "/v1/refunds", &form, None).await;
    assert_eq!((with_status(&answers, 200), with_status(&answers, 400)), (2, AT_ONCE - 2));
    let charges = objects(&server.rest(), &mock, "charges").await;
    assert_eq!(charges[0]["object"]["amount_refunded"], 1000);
}

#[tokio::test]
async fn next_meets_as_many_calls_as_it_says() {
    let server = shared();
    let mock = mock(&server.rest(), "stripe").await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let settings = json!({ "settings": { "next": [{ "fault": "server", "times": 1 }] } });
    server.rest().patch(&path, settings).await.expect(200);
    let app = app(&mock);
    let answers = join_all((0..AT_ONCE).map(|_| app.get("/v1/customers"))).await;
    assert_eq!((with_status(&answers, 500), with_status(&answers, 200)), (1, AT_ONCE - 1));
}

/// Each object takes the next number of one counter.
#[tokio::test]
async fn objects_that_are_numbered_get_a_number_each() {
    let server = shared();
    let mock = mock(&server.rest(), "hubspot").await;
    let token = mock["credentials"]["accessToken"].as_str();
    let app = Rest::new(mock["baseUrl"].as_str().unwrap(), token);
    let contact = || app.post("/crm/v3/objects/contacts", json!({ "properties": {} }));
    let answers = join_all((0..AT_ONCE).map(|_| contact())).await;
    assert_eq!(with_status(&answers, 201), AT_ONCE, "{answers:?}");
    let ids: HashSet<_> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
    assert_eq!(ids.len(), AT_ONCE);
}

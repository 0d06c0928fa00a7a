//! Calls that race have one winner, on any number of processes: what a mock keeps is one partition.

use std::collections::HashSet;

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use trapline_tests::{Answer, Rest, proofs_are_full, shared};

use super::apps::{AT_ONCE, App, with_status};

const INTENTS: &str = "/v1/payment_intents";
const PAID: &[(&str, &str)] = &[
    ("amount", "1000"),
    ("currency", "usd"),
    ("confirm", "true"),
    ("payment_method", "pm_card_visa"),
];

/// How often each race is run.
fn rounds() -> usize {
    if proofs_are_full() { 100 } else { 1 }
}

fn form(client: &Rest, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    client.request("POST", path).form(fields)
}

#[tokio::test]
async fn one_key_makes_one_object_and_the_same_answer() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "stripe", "secretKey").await;
        let call = |client: &Rest| form(client, INTENTS, PAID).header("idempotency-key", "once");
        let answers = app.raced(call).await;
        assert_eq!(with_status(&answers, 200), AT_ONCE, "{answers:?}");
        assert!(answers.iter().all(|answer| answer.json() == answers[0].json()));
        assert_eq!(app.objects("payments").await.len(), 1);
        assert_eq!(app.objects("charges").await.len(), 1);
    }
}

#[tokio::test]
async fn one_payment_that_is_confirmed_again_and_again_has_one_charge() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "stripe", "secretKey").await;
        let card = [("amount", "1000"), ("currency", "usd"), ("payment_method", "pm_card_visa")];
        let intent = Answer::to(form(app.one(), INTENTS, &card)).await.expect(200).json();
        let path = format!("{INTENTS}/{}/confirm", intent["id"].as_str().unwrap());
        let answers = app.raced(|client| form(client, &path, &[])).await;
        assert_eq!((with_status(&answers, 200), with_status(&answers, 400)), (1, AT_ONCE - 1));
        assert_eq!(app.objects("charges").await.len(), 1);
    }
}

#[tokio::test]
async fn no_more_is_refunded_than_was_paid() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "stripe", "secretKey").await;
        let intent = Answer::to(form(app.one(), INTENTS, PAID)).await.expect(200).json();
        let half = [("payment_intent", intent["id"].as_str().unwrap()), ("amount", "500")];
        let answers = app.raced(|client| form(client, "/v1/refunds", &half)).await;
        assert_eq!((with_status(&answers, 200), with_status(&answers, 400)), (2, AT_ONCE - 2));
        let charges = app.objects("charges").await;
        assert_eq!(charges[0]["object"]["amount_refunded"], 1000);
    }
}

#[tokio::test]
async fn next_meets_as_many_calls_as_it_says() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "stripe", "secretKey").await;
        let settings = json!({ "settings": { "next": [{ "fault": "server", "times": 1 }] } });
        server.rest().patch(&app.path(), settings).await.expect(200);
        let answers = app.raced(|client| client.request("GET", "/v1/customers")).await;
        assert_eq!((with_status(&answers, 500), with_status(&answers, 200)), (1, AT_ONCE - 1));
    }
}

#[tokio::test]
async fn of_contacts_with_one_address_one_is_made() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "hubspot", "accessToken").await;
        let answers = app.raced(|client| contact(client, &json!({ "email": "a@b.example" }))).await;
        assert_eq!((with_status(&answers, 201), with_status(&answers, 409)), (1, AT_ONCE - 1));
        assert_eq!(app.objects("records").await.len(), 1);
    }
}

/// Each object takes the next number of one counter.
#[tokio::test]
async fn objects_that_are_numbered_get_a_number_each() {
    let server = shared();
    for _ in 0..rounds() {
        let app = App::of(&server, "hubspot", "accessToken").await;
        let answers = app.raced(|client| contact(client, &json!({}))).await;
        assert_eq!(with_status(&answers, 201), AT_ONCE, "{answers:?}");
        let ids: HashSet<_> =
            answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
        assert_eq!(ids.len(), AT_ONCE);
    }
}

fn contact(client: &Rest, properties: &Value) -> RequestBuilder {
    client.request("POST", "/crm/v3/objects/contacts").json(&json!({ "properties": properties }))
}

/// Once a change is answered, no call meets what was before, whichever process it comes to.
#[tokio::test]
async fn what_was_changed_is_seen_by_the_next_call_at_every_process() {
    let server = shared();
    let mut app = App::of(&server, "stripe", "secretKey").await;
    let customers = |client: &Rest| client.request("GET", "/v1/customers");
    let statuses = |answers: Vec<Answer>| -> HashSet<u16> {
        answers.iter().map(|answer| answer.status).collect()
    };
    for round in 0..rounds() {
        // Each process knows the mock from before.
        assert_eq!(statuses(app.each(customers).await), [200].into(), "round {round}");
        for (rate, status) in [(json!(1), 500), (json!(null), 200)] {
            let settings = json!({ "settings": { "errorRate": rate } });
            server.rest().patch(&app.path(), settings).await.expect(200);
            assert_eq!(statuses(app.each(customers).await), [status].into(), "round {round}");
        }
        let made = Answer::to(form(app.one(), "/v1/customers", &[])).await.expect(200).json();
        let path = format!("/v1/customers/{}", made["id"].as_str().unwrap());
        assert_eq!(statuses(app.each(|it| it.request("GET", &path)).await), [200].into());
        server.rest().delete(&format!("{}/calls", app.path())).await.expect(204);
        assert_eq!(statuses(app.each(|it| it.request("GET", &path)).await), [404].into());
        let rotate = json!({ "credential": "secretKey" });
        let rotated = server.rest().post(&format!("{}/rotate", app.path()), rotate).await;
        let rotated = rotated.expect(200).json();
        assert_eq!(statuses(app.each(customers).await), [401].into(), "round {round}");
        app = app.with(&server, rotated["credentials"]["secretKey"].as_str().unwrap());
    }
}

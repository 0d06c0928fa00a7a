//! `kill -9` in the middle of calls that change something: each that was answered is told of, and none that is not there.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{Sender, channel},
    task::JoinSet,
};
use trapline_tests::{Deployment, Rest, eventually};

use crate::webhooks::receiver::{Act, Receiver, Request};

/// Apps that call at once, each a mock of its own.
const APPS: usize = 8;
/// Answers of all of them before the crash.
const ANSWERED: usize = 200;
const CUSTOMERS: &str = "/v1/customers";

async fn mock_that_tells(rest: &Rest, receiver: &Receiver) -> Value {
    let url = receiver.url();
    let new = json!({ "name": "Told", "provider": "stripe", "webhookUrl": url });
    rest.post("/api/mocks", new).await.expect(201).json()
}

/// Makes customers until the server is gone; the ids of those that were answered.
async fn make_customers(mock: Value, answered: Sender<()>) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    while let Ok(answer) = rest.request("POST", CUSTOMERS).send().await {
        let Ok(text) = answer.text().await else { break };
        let customer: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(id) = customer["id"].as_str() {
            ids.insert(id.to_owned());
            // Nobody listens any more, once there are enough.
            answered.send(()).await.unwrap_or_default();
        }
    }
    ids
}

/// The customers of whom the app was told.
fn told(receiver: &Receiver) -> BTreeSet<String> {
    let id = |request: &Request| {
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        event["data"]["object"]["id"].as_str().unwrap().to_owned()
    };
    receiver.requests().iter().map(id).collect()
}

/// The customers that the mocks have.
async fn kept(rest: &Rest, mocks: &[Value]) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for mock in mocks {
        let id = mock["id"].as_str().unwrap();
        let path = format!("/api/mocks/{id}/objects?kind=customers&limit=200");
        let objects = rest.get(&path).await.expect(200).json();
        let of_mock = objects.as_array().unwrap().iter();
        ids.extend(of_mock.map(|it| it["id"].as_str().unwrap().to_owned()));
    }
    ids
}

#[tokio::test]
async fn what_was_answered_before_a_crash_is_told_of() {
    let mut server = Deployment::alone(&[]);
    let receiver = Receiver::start(&[Act::answer(204)]).await;
    let (answered, mut answers) = channel(1);
    let (mut mocks, mut apps) = (Vec::new(), JoinSet::new());
    for _ in 0..APPS {
        let mock = mock_that_tells(&server.rest(), &receiver).await;
        apps.spawn(make_customers(mock.clone(), answered.clone()));
        mocks.push(mock);
    }
    for _ in 0..ANSWERED {
        answers.recv().await.unwrap();
    }
    server.kill();
    answers.close();
    let answered: BTreeSet<_> = apps.join_all().await.into_iter().flatten().collect();
    assert!(answered.len() >= ANSWERED);
    server.restart();
    let kept = kept(&server.rest(), &mocks).await;
    assert!(answered.is_subset(&kept), "what was answered is there");
    eventually("all webhooks", async || kept.is_subset(&told(&receiver)).then_some(())).await;
    assert_eq!(told(&receiver), kept, "nothing is told of that is not there");
}

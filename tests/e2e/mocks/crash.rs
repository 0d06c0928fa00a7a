//! `kill -9` in the middle of calls that change something: each that was answered is told of, and none that is not there.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{Sender, channel},
    task::JoinSet,
};
use trapline_tests::{Answer, Deployment, Rest, eventually, is_cluster, proofs_are_full};

use super::objects;
use crate::webhooks::receiver::{Act, Receiver, Request};

const CUSTOMERS: &str = "/v1/customers";
/// The most customers of one app: a page of its mock's objects has them all.
const MOST: usize = 190;

/// Apps that call at once, each a mock of its own, and the answers of all of them before the crash, and as many again
/// where some can go on.
fn load() -> (usize, usize) {
    if proofs_are_full() { (40, 2_500) } else { (8, 200) }
}

async fn mock_that_tells(rest: &Rest, receiver: &Receiver) -> Value {
    let url = receiver.url();
    let new = json!({ "name": "Told", "provider": "stripe", "webhookUrl": url });
    rest.post("/api/mocks", new).await.expect(201).json()
}

/// Makes customers until the server is gone, or nobody counts them any more; the ids of those that were answered.
async fn make_customers(mock: Value, answered: Sender<()>) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let secret = mock["credentials"]["secretKey"].as_str();
    let rest = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
    while ids.len() < MOST {
        let Ok(answer) = rest.request("POST", CUSTOMERS).send().await else { break };
        let Ok(text) = answer.text().await else { break };
        let customer: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(id) = customer["id"].as_str() else { continue };
        ids.insert(id.to_owned());
        if answered.send(()).await.is_err() {
            break;
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
        let of_mock = objects(rest, mock, "customers").await;
        ids.extend(of_mock.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
    }
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_before_a_crash_is_told_of() {
    call_amid_a_crash(Deployment::kill, Deployment::restart).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_while_a_process_of_the_api_crashed_is_told_of() {
    // Where there is one process, that is all of them.
    if is_cluster() {
        call_amid_a_crash(|server| server.kill_one("api"), |server| server.start_one("api")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_while_a_worker_crashed_is_told_of() {
    if is_cluster() {
        let start = |server: &mut Deployment| server.start_one("worker");
        call_amid_a_crash(|server| server.kill_one("worker"), start).await;
    }
}

async fn call_amid_a_crash(kill: fn(&mut Deployment), start: fn(&mut Deployment)) {
    let (apps, before) = load();
    let mut server = Deployment::alone(&[]);
    let receiver = Receiver::start(&[Act::answer(204)]).await;
    let (answered, mut answers) = channel(1);
    let (mut mocks, mut calling) = (Vec::new(), JoinSet::new());
    for _ in 0..apps {
        let mock = mock_that_tells(&server.rest(), &receiver).await;
        calling.spawn(make_customers(mock.clone(), answered.clone()));
        mocks.push(mock);
    }
    drop(answered);
    for _ in 0..before {
        answers.recv().await.unwrap();
    }
    kill(&mut server);
    // Of those that call a process that is left, until they have as many again.
    for _ in 0..before {
        let Some(()) = answers.recv().await else { break };
    }
    answers.close();
    let answered: BTreeSet<_> = calling.join_all().await.into_iter().flatten().collect();
    assert!(answered.len() >= before);
    start(&mut server);
    let kept = kept(&server.rest(), &mocks).await;
    assert!(answered.is_subset(&kept), "what was answered is there");
    eventually("all webhooks", async || kept.is_subset(&told(&receiver)).then_some(())).await;
    assert_eq!(told(&receiver), kept, "nothing is told of that is not there");
}

/// Messages of an app whose steps are due while nobody is there to take them.
const MESSAGES: usize = 20;

#[tokio::test]
async fn steps_that_were_due_in_a_crash_are_taken_after_it() {
    let mut server = Deployment::alone(&[]);
    let new = json!({ "name": "Sends", "provider": "twilio" });
    let mock = server.rest().post("/api/mocks", new).await.expect(201).json();
    let credential = |name: &str| mock["credentials"][name].as_str().unwrap();
    let account = credential("accountSid");
    let path = format!("/2010-04-01/Accounts/{account}/Messages.json");
    let app = Rest::new(mock["baseUrl"].as_str().unwrap(), None);
    for _ in 0..MESSAGES {
        let form = [("From", "+15005550006"), ("To", "+15005550100"), ("Body", "Hello")];
        let request = app.request("POST", &path).form(&form);
        let request = request.basic_auth(account, Some(credential("secretKey")));
        Answer::to(request).await.expect(201);
    }
    server.kill();
    server.restart();
    eventually("all messages delivered", async || {
        let messages = objects(&server.rest(), &mock, "deliveries").await;
        let are_delivered = messages.iter().all(|message| message["state"] == "delivered");
        (messages.len() == MESSAGES && are_delivered).then_some(())
    })
    .await;
}

//! `kill -9` while webhooks are called: each mail that was answered 250 is told of in the end.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::Value;
use trapline_tests::{Deployment, Mail, Smtp, eventually, is_cluster};

use crate::webhooks::{
    Hook,
    receiver::{Act, Receiver, Request},
};

const HOOKS: usize = 3;
/// Mails for each webhook; one request lists their deliveries.
const MAILS: usize = 100;
/// Calls of each webhook that are answered before the crash.
const ANSWERED: usize = 20;
/// Calls of one webhook that a worker makes at once.
const AT_ONCE: usize = 4;
/// What the crash took along is found again when a lease is over, or by a repair after five minutes.
const PATIENCE: Duration = Duration::from_mins(8);

/// Answers some calls, is silent to all that come then, and answers whatever comes later.
async fn stalling() -> Receiver {
    let silent = if is_cluster() { 2 * AT_ONCE } else { AT_ONCE };
    let answers = std::iter::repeat_n(Act::answer(204), ANSWERED);
    let silence = std::iter::repeat_n(Act::Hang, silent);
    let acts: Vec<_> = answers.chain(silence).chain([Act::answer(204)]).collect();
    Receiver::start(&acts).await
}

/// Delivers into an inbox, and returns the ids of what was answered 250.
async fn send(server: &Deployment, hook: &Hook) -> BTreeSet<String> {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let mut ids = BTreeSet::new();
    for number in 0..MAILS {
        let mail = Mail::new(&format!("n{number}"), "x").bytes();
        ids.extend(smtp.transact("app@x.test", &[&hook.inbox.address], &mail).await);
    }
    ids
}

/// Waits until everything that a webhook is to be told of has been delivered, once in the log.
async fn all_succeed(hook: &Hook, ids: &BTreeSet<String>) {
    let began = Instant::now();
    loop {
        let log = hook.deliveries().await;
        let succeeded = |one: &&Value| one["status"] == "succeeded";
        let id = |one: &Value| one["messageId"].as_str().unwrap().to_owned();
        let told: BTreeSet<_> = log.iter().filter(succeeded).map(id).collect();
        if told == *ids {
            assert_eq!(log.len(), ids.len(), "a delivery was made twice");
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{} of {}: {log:?}", told.len(), ids.len());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn each_delivery_goes_on_after_a_crash() {
    let mut server = Deployment::alone(&[]);
    let (mut receivers, mut hooks) = (Vec::new(), Vec::new());
    for _ in 0..HOOKS {
        let receiver = stalling().await;
        hooks.push(Hook::new(&server.rest(), &receiver.url()).await);
        receivers.push(receiver);
    }
    let sent = join_all(hooks.iter().map(|hook| send(&server, hook))).await;
    eventually("calls on their way", async || {
        receivers.iter().all(|receiver| receiver.requests().len() > ANSWERED).then_some(())
    })
    .await;
    server.kill();
    server.restart();
    for ((hook, ids), receiver) in hooks.into_iter().zip(&sent).zip(&receivers) {
        assert_eq!(ids.len(), MAILS);
        all_succeed(&hook.of(server.rest()), ids).await;
        let called = receiver.requests().iter().map(Request::message).collect();
        assert_eq!(*ids, called, "the receiver was told of other messages");
    }
}

//! `kill -9` under load: a 250 means that the message is there afterwards, whole and once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::json;
use trapline_tests::{
    Deployment, Inbox, Mail, Rest, Smtp, eventually, proofs_are_full, sha256_hex,
};

const INBOXES: usize = 3;
const SENDERS: usize = 6;
/// Messages answered 250 in a round before the crash comes.
const AT_LEAST: usize = 20;

/// Message ids by token, of what was answered 250.
pub(crate) type Accepted = Arc<Mutex<BTreeMap<String, String>>>;

/// The message of a token: of any length, and like no other's.
pub(crate) fn mail(token: &str) -> Vec<u8> {
    let sum = sha256_hex(token.as_bytes());
    let lines = usize::from_str_radix(&sum[..2], 16).unwrap();
    // One in sixteen is large.
    let lines = if lines < 16 { 200 * lines } else { 2 * lines };
    let body: Vec<_> = (0..lines).map(|n| format!("{sum} {n}\n.{token}\n")).collect();
    Mail::new(token, &body.concat()).field(&format!("X-Sum: {sum}")).bytes()
}

/// Sends until the server is gone.
pub(crate) async fn load(
    address: std::net::SocketAddr,
    inbox: Inbox,
    prefix: String,
    accepted: Accepted,
) {
    let mut smtp = Smtp::hello(address).await;
    smtp.login(&inbox.username, &inbox.password).await;
    for n in 0.. {
        let token = format!("{prefix}-{n}");
        let Some(reply) = smtp.attempt("a@x.test", &["b@x.test"], &mail(&token)).await else {
            break;
        };
        assert_eq!(reply.code, 250, "{reply}");
        accepted.lock().unwrap().insert(token, reply.ids().remove(0));
    }
}

/// Every message of an inbox: token and id. A token that is there twice is a message stored twice.
pub(crate) async fn stored(rest: &Rest, inbox: &Inbox) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for page in 1.. {
        let path = inbox.path(&format!("/messages?limit=200&page={page}"));
        let list = rest.get(&path).await.expect(200).json();
        let messages = list["messages"].as_array().unwrap();
        for message in messages {
            let text = |field: &str| message[field].as_str().unwrap().to_owned();
            let twice = found.insert(text("subject"), text("id"));
            assert_eq!(twice, None, "stored twice: {message}");
        }
        if messages.is_empty() {
            assert_eq!(list["total"], found.len());
            break;
        }
    }
    found
}

/// Checks all that is stored against all that was answered. `known` were whole before.
async fn check(rest: &Rest, inboxes: &[Inbox], accepted: &Accepted, known: &mut BTreeSet<String>) {
    let mut found = BTreeMap::new();
    for inbox in inboxes {
        found.extend(stored(rest, inbox).await);
    }
    for (token, id) in &*accepted.lock().unwrap() {
        assert_eq!(found.get(token), Some(id), "{token} was answered 250");
    }
    for (token, id) in &found {
        if known.insert(id.clone()) {
            assert!(rest.raw(id).await == mail(token), "{token} is not whole");
        }
    }
}

/// Runs senders, and kills the server in the midst of it.
async fn crash(server: &mut Deployment, round: usize, inboxes: &[Inbox], accepted: &Accepted) {
    let before = accepted.lock().unwrap().len();
    let senders = (0..SENDERS).map(|sender| {
        let inbox = inboxes[sender % INBOXES].clone();
        let prefix = format!("r{round}s{sender}");
        tokio::spawn(load(server.smtp()[0], inbox, prefix, accepted.clone()))
    });
    let senders: Vec<_> = senders.collect();
    eventually("accepted messages", async || {
        (accepted.lock().unwrap().len() >= before + AT_LEAST).then_some(())
    })
    .await;
    // Another moment in each round.
    tokio::time::sleep(Duration::from_millis(round as u64 * 7 % 60)).await;
    server.kill();
    for sender in join_all(senders).await {
        sender.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_250_survives_crashes() {
    let crashes = if proofs_are_full() { 20 } else { 5 };
    let mut server = Deployment::start();
    let mut inboxes = Vec::new();
    for _ in 0..INBOXES {
        let body = json!({ "name": "Load", "maxMessages": 10_000 });
        inboxes.push(server.rest().inbox_with(body).await);
    }
    let (accepted, mut known) = (Accepted::default(), BTreeSet::new());
    for round in 0..crashes {
        crash(&mut server, round, &inboxes, &accepted).await;
        server.restart();
        check(&server.rest(), &inboxes, &accepted, &mut known).await;
    }
    // Once more with everything read again, after a start without a crash before it.
    server.terminate();
    assert!(server.ended().success());
    server.restart();
    check(&server.rest(), &inboxes, &accepted, &mut BTreeSet::new()).await;
    assert!(accepted.lock().unwrap().len() >= crashes * AT_LEAST);
}

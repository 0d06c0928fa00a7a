//! What a team's plan allows, as its clients see it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::json;
use tempfile::NamedTempFile;
use trapline_tests::{Deployment, Inbox, Mail, Rest, Smtp, eventually, proofs_are_full};

/// A file with a plan of so many messages a month.
fn plans(messages: u64) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let plan = json!({ "id": "small", "name": "Small", "features": [], "limits": {
        "inboxes": 2, "messagesPerMonth": messages, "messagesPerInbox": 5000,
        "messageBytes": 100_000, "retentionDays": 7, "members": 2 } });
    let limits = ["inboxes", "messagesPerMonth", "messagesPerInbox", "messageBytes"];
    let limits = limits.into_iter().chain(["retentionDays", "members"]);
    let limits: serde_json::Map<_, _> = limits.map(|name| (name.to_owned(), json!(null))).collect();
    let all =
        json!({ "id": "unlimited", "name": "All", "features": ["webhooks"], "limits": limits });
    let catalog = json!({ "default": "unlimited", "plans": [plan, all] });
    std::fs::write(file.path(), catalog.to_string()).unwrap();
    file
}

/// A server whose team is on the small plan, in every process.
async fn small(file: &NamedTempFile) -> Deployment {
    let path = file.path().to_str().unwrap();
    let url = "https://example.com/plans";
    let server = Deployment::with(&["--plans", path, "--upgrade-url", url]);
    let set = [&["plan", "set", "small", "--plans", path][..], &server.team().flags()].concat();
    let told = server.command(&set);
    assert!(told.ends_with("is on the plan Small (small)."), "{told}");
    for api in server.api() {
        let rest = Rest::new(&api, Some(server.team().key()));
        eventually("the plan", async || {
            let usage = rest.get("/api/team/usage").await.expect(200).json();
            (usage["plan"]["id"] == "small").then_some(())
        })
        .await;
    }
    server
}

/// An inbox, for which every SMTP server knows the plan.
async fn inbox(server: &Deployment) -> Inbox {
    let inbox = server.rest().inbox().await;
    for address in server.smtp() {
        eventually("the plan's bound on messages", async || {
            let mut smtp = Smtp::hello(address).await;
            smtp.login(&inbox.username, &inbox.password).await;
            smtp.ask("MAIL FROM:<a@x.test> SIZE=100001", 250).await;
            let reply = smtp.command("RCPT TO:<b@x.test>").await;
            (reply.code == 552).then(|| assert!(reply.to_string().contains("5.3.4"), "{reply}"))
        })
        .await;
    }
    inbox
}

async fn counted(rest: &Rest, messages: usize) {
    eventually("a count", async || {
        let usage = rest.get("/api/team/usage").await.expect(200).json();
        (usage["used"]["messagesPerMonth"] == messages).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_the_plan_does_not_allow_is_402_and_says_what() {
    let file = plans(3);
    let server = small(&file).await;
    let rest = server.rest();
    let usage = server.reader().get("/api/team/usage").await.expect(200).json();
    assert_eq!(usage["plan"], json!({ "id": "small", "name": "Small" }));
    assert_eq!(usage["limits"]["messagesPerMonth"], 3);
    assert_eq!(usage["features"], json!([]));
    assert_eq!(usage["upgradeUrl"], "https://example.com/plans");
    server.anonymous().get("/api/team/usage").await.error(401);
    while usage["limits"]["inboxes"]
        != rest.get("/api/inboxes").await.json().as_array().unwrap().len()
    {
        rest.inbox().await;
    }
    let refused = |answer: trapline_tests::Answer, code: &str, limit: &str| {
        let body = answer.expect(402).json();
        assert_eq!((&body["code"], &body["limit"]), (&json!(code), &json!(limit)), "{body}");
        assert_eq!(body["upgradeUrl"], "https://example.com/plans");
        assert!(body["error"].is_string());
    };
    let one_more = rest.post("/api/inboxes", json!({ "name": "one more" })).await;
    refused(one_more, "quota_exceeded", "inboxes");
    let too_many = rest.post("/api/inboxes", json!({ "name": "large", "maxMessages": 5001 })).await;
    refused(too_many, "quota_exceeded", "messagesPerInbox");
    let hook = json!({ "url": "https://receiver.example/hook" });
    refused(rest.post("/api/webhooks", hook).await, "feature_unavailable", "webhooks");
}

#[tokio::test]
async fn a_full_month_is_452_before_data_and_402() {
    let file = plans(3);
    let server = small(&file).await;
    let (rest, inbox) = (server.rest(), inbox(&server).await);
    let smtp = server.smtp()[0];
    let mut session = Smtp::hello(smtp).await;
    session.login(&inbox.username, &inbox.password).await;
    for _ in 0..2 {
        session.transact("a@x.test", &["b@x.test"], &Mail::new("x", "x").bytes()).await;
    }
    rest.post(&inbox.path("/test-message"), json!({})).await.expect(201);
    counted(&rest, 3).await;
    for address in server.smtp() {
        eventually("a refusal", async || {
            let mut session = Smtp::hello(address).await;
            session.login(&inbox.username, &inbox.password).await;
            session.ask("MAIL FROM:<a@x.test>", 250).await;
            let reply = session.command("RCPT TO:<b@x.test>").await;
            (reply.code == 452).then(|| assert!(reply.to_string().contains("4.2.2"), "{reply}"))
        })
        .await;
    }
    let refused = eventually("a refusal of the sample", async || {
        let answer = rest.post(&inbox.path("/test-message"), json!({})).await;
        (answer.status == 402).then(|| answer.json())
    })
    .await;
    assert_eq!(refused["limit"], "messagesPerMonth");
    // A full month comes before what is too large.
    session.ask("MAIL FROM:<a@x.test> SIZE=200000", 250).await;
    session.ask("RCPT TO:<b@x.test>", 452).await;
}

/// When each mail was answered 250.
type Accepted = Arc<Mutex<Vec<Instant>>>;

/// Sends until no more is taken, or the server is gone.
async fn send_all(address: SocketAddr, inbox: Inbox, accepted: Accepted) {
    let mut smtp = Smtp::hello(address).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let mail = Mail::new("counted", "x").bytes();
    while let Some(reply) = smtp.attempt("a@x.test", &["b@x.test"], &mail).await {
        if reply.code != 250 {
            assert_eq!(reply.code, 452, "{reply}");
            return;
        }
        accepted.lock().unwrap().push(Instant::now());
    }
}

/// The most that were accepted in any second.
fn most_in_a_second(mut accepted: Vec<Instant>) -> usize {
    accepted.sort_unstable();
    let after = |from: &Instant| {
        accepted.partition_point(|at| *at < *from + Duration::from_secs(1))
            - accepted.partition_point(|at| at < from)
    };
    accepted.iter().map(after).max().unwrap_or(0)
}

#[tokio::test]
async fn all_processes_stop_within_a_seconds_worth_of_the_limit_and_count_exactly() {
    // In full, ten seconds' worth at a thousand a second.
    let (limit, sessions) = if proofs_are_full() { (10_000, 16) } else { (300, 4) };
    let file = plans(limit as u64);
    let server = small(&file).await;
    let inbox = inbox(&server).await;
    let accepted = Accepted::default();
    let senders = server.smtp().into_iter().cycle().take(sessions * server.smtp().len());
    join_all(senders.map(|smtp| send_all(smtp, inbox.clone(), accepted.clone()))).await;
    let accepted = accepted.lock().unwrap().clone();
    assert!(accepted.len() >= limit, "{}", accepted.len());
    let over = accepted.len() - limit;
    // One process knows all of it, but for what its sessions have in their hands.
    let bound =
        if server.smtp().len() == 1 { sessions } else { most_in_a_second(accepted.clone()) };
    assert!(over <= bound, "{over} over the limit, {bound} in a second");
    counted(&server.rest(), accepted.len()).await;
}

#[tokio::test]
async fn a_kill_loses_a_second_of_counts_at_most_and_counts_nothing_twice() {
    let file = plans(1_000_000);
    let mut server = small(&file).await;
    let inbox = inbox(&server).await;
    for _ in 0..2 {
        let before = used(&server).await;
        let accepted = Accepted::default();
        let senders = server
            .smtp()
            .into_iter()
            .map(|smtp| tokio::spawn(send_all(smtp, inbox.clone(), accepted.clone())));
        let senders: Vec<_> = senders.collect();
        eventually("a second of mail", async || {
            let accepted = accepted.lock().unwrap();
            let first = accepted.first()?.elapsed();
            (first > Duration::from_millis(1200)).then_some(())
        })
        .await;
        server.kill();
        let killed = Instant::now();
        for sender in senders {
            sender.await.unwrap();
        }
        server.restart();
        let accepted = accepted.lock().unwrap().clone();
        let safe = accepted.iter().filter(|at| **at + Duration::from_secs(1) < killed).count();
        let after = used(&server).await - before;
        // What was stored and not answered any more may be counted, one for each session.
        let sessions = server.smtp().len();
        assert!(
            (safe..=accepted.len() + sessions).contains(&after),
            "{safe} {after} {}",
            accepted.len()
        );
    }
}

async fn used(server: &Deployment) -> usize {
    let usage = server.rest().get("/api/team/usage").await.expect(200).json();
    usize::try_from(usage["used"]["messagesPerMonth"].as_u64().unwrap()).unwrap()
}

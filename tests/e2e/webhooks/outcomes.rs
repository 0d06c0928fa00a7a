//! What each kind of receiver leads to.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use trapline_tests::{Deployment, GUARD, Mail, Rest, deliver, eventually, shared};

use super::{
    Hook,
    receiver::{Act, Receiver},
};

/// The contract's deadline, in milliseconds.
const DEADLINE: u64 = 10_000;
/// The first pause of the ladder, in seconds, and what it may be longer or shorter by.
const FIRST: (u64, u64) = (30, 3);

/// A receiver, and what the log says of the first attempt.
struct Case {
    url: String,
    status: &'static str,
    http_status: Value,
    error: Value,
    /// The shortest and the longest pause before the next attempt, in seconds.
    pause: Option<(u64, u64)>,
}

impl Case {
    fn succeeds(receiver: &Receiver, http_status: u16) -> Self {
        let http_status = json!(http_status);
        let url = receiver.url();
        Self { url, status: "succeeded", http_status, error: Value::Null, pause: None }
    }

    fn fails(receiver: &Receiver, http_status: u16, error: &str) -> Self {
        let (http_status, error) = (json!(http_status), json!(error));
        Self { url: receiver.url(), status: "failed", http_status, error, pause: None }
    }

    fn retries(url: String, http_status: Value, error: &str) -> Self {
        let pause = Some((FIRST.0 - FIRST.1, FIRST.0 + FIRST.1));
        Self { url, status: "retrying", http_status, error: json!(error), pause }
    }

    /// Delivers a mail, and compares.
    async fn check(self, server: &Deployment, rest: &Rest) -> Value {
        let hook = Hook::new(rest, &self.url).await;
        let message = deliver(server, &hook.inbox, &Mail::new("hooked", "x")).await;
        let found = hook.settled().await;
        let told = (&found["status"], &found["httpStatus"], &found["error"], &found["attempts"]);
        assert_eq!(told, (&json!(self.status), &self.http_status, &self.error, &json!(1)));
        assert_eq!(
            (&found["event"], &found["messageId"]),
            (&json!("message.received"), &json!(message))
        );
        let took = found["durationMs"].as_u64().unwrap();
        assert!(Duration::from_millis(took) < GUARD, "{found}");
        assert_eq!(found["completedAt"].is_null(), self.status == "retrying", "{found}");
        assert_eq!(found["nextAttemptAt"].is_null(), self.pause.is_none(), "{found}");
        if let Some((least, most)) = self.pause {
            let pause = seconds(&found["nextAttemptAt"]) - seconds(&found["createdAt"]);
            // The pause begins when the attempt has ended.
            assert!(pause >= least && pause <= most + GUARD.as_secs(), "{found}");
        }
        // It is noted after the log.
        eventually("the webhook's own status", async || {
            let listed = rest.get(&hook.path).await.expect(200).json();
            (listed["lastStatus"] == self.status && listed["lastError"] == self.error).then_some(())
        })
        .await;
        found
    }
}

/// Seconds of the Unix time.
fn seconds(time: &Value) -> u64 {
    let time: jiff::Timestamp = time.as_str().unwrap().parse().unwrap();
    time.as_second().try_into().unwrap()
}

async fn answering(status: u16, more: &str) -> Receiver {
    Receiver::start(&[Act::Answer(status, more.to_owned())]).await
}

async fn check_all(cases: Vec<Case>) -> Vec<Value> {
    let server = shared();
    let rest = server.rest();
    join_all(cases.into_iter().map(|case| case.check(&server, &rest))).await
}

#[tokio::test]
async fn answers_lead_where_the_contract_says() {
    let statuses = [(408, "http_4xx"), (429, "http_4xx"), (500, "http_5xx"), (503, "http_5xx")];
    let mut cases = Vec::new();
    for status in [200, 202, 204] {
        cases.push(Case::succeeds(&answering(status, "").await, status));
    }
    for status in [400, 404, 410] {
        cases.push(Case::fails(&answering(status, "").await, status, "http_4xx"));
    }
    for (status, error) in statuses {
        let url = answering(status, "").await.url();
        cases.push(Case::retries(url, json!(status), error));
    }
    // Heeded, and not for more than twice the pause that is due anyway.
    for (asked, least) in [(50, 50), (100_000, 2 * FIRST.0)] {
        let url = answering(429, &format!("Retry-After: {asked}\r\n")).await.url();
        let pause = Some((least, least + least / 10));
        cases.push(Case { pause, ..Case::retries(url, json!(429), "http_4xx") });
    }
    check_all(cases).await;
}

#[tokio::test]
async fn a_redirect_is_followed_nowhere() {
    let inside = answering(204, "").await;
    let location = format!("Location: {}\r\n", inside.url());
    let mut cases = Vec::new();
    for status in [301, 302, 303, 307, 308] {
        let receiver = answering(status, &location).await;
        cases.push(Case::fails(&receiver, status, "redirect_not_followed"));
    }
    check_all(cases).await;
    assert!(inside.requests().is_empty());
}

#[tokio::test]
async fn what_is_no_answer_is_tried_again() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let acting = async |act| Receiver::start(&[act]).await;
    let [reset, babble] = [acting(Act::Reset).await, acting(Act::Babble).await];
    let self_signed = Receiver::self_signed(&[Act::answer(204)]).await;
    let plain = answering(204, "").await;
    let cases = [
        (reset.url(), "reset"),
        (babble.url(), "reset"),
        (self_signed.url(), "tls_error"),
        (plain.url().replace("http:", "https:"), "tls_error"),
        (format!("http://{closed}/"), "connect_refused"),
        // No name below this one is ever there (RFC 6761, section 6.4).
        ("http://hooks.invalid/".to_owned(), "dns_error"),
    ];
    let cases = cases.into_iter().map(|(url, error)| Case::retries(url, Value::Null, error));
    check_all(cases.collect()).await;
    assert!(self_signed.requests().is_empty() && plain.requests().is_empty());
    assert_eq!((reset.requests().len(), babble.requests().len()), (1, 1));
}

#[tokio::test]
async fn a_receiver_has_ten_seconds_for_its_status_and_its_body_does_not_matter() {
    let hanging = Receiver::start(&[Act::Hang]).await;
    let slow = Receiver::start(&[Act::Endless(Duration::from_millis(50))]).await;
    let endless = Receiver::start(&[Act::Endless(Duration::ZERO)]).await;
    let found = check_all(vec![
        Case::retries(hanging.url(), Value::Null, "timeout"),
        Case::succeeds(&slow, 200),
        Case::succeeds(&endless, 200),
    ])
    .await;
    assert!(found[0]["durationMs"].as_u64().unwrap() >= DEADLINE, "{}", found[0]);
}

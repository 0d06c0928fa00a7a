//! Waits: for a mail that is sent meanwhile, and for one that never comes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{AGAIN, Load, PATIENCE, answer, ledger::Kind};

/// Seconds that a wait for a mail lasts.
const LONG: u64 = 20;
/// Seconds of a wait for what never comes.
const SHORT: u64 = 3;
/// A mail that was accepted so long before the deadline must have been found.
const MARGIN: Duration = Duration::from_secs(1);
/// Between the request and the mail.
const AHEAD: Duration = Duration::from_millis(100);

/// Waits for one mail after another.
pub(super) async fn wait(load: Arc<Load>, number: usize) {
    let mut session = None;
    for n in 0.. {
        if load.is_stopped() {
            break;
        }
        let subject = format!("wait-{number}-{n:05}.");
        let wanted = subject.clone();
        let waiting = tokio::spawn(until_found(load.clone(), number, wanted));
        tokio::time::sleep(AHEAD).await;
        // By the other process, as far as there is one for each.
        load.deliver(&mut session, number + 1, Kind::Wait, &subject).await;
        waiting.await.unwrap();
    }
}

async fn until_found(load: Arc<Load>, number: usize, subject: String) {
    for tries in 0.. {
        let began = Instant::now();
        let path = load.inbox.path(&format!("/messages/wait?timeout={LONG}&subject={subject}"));
        let limit = Duration::from_secs(LONG) + PATIENCE;
        match answer(load.request(number + tries, &path).timeout(limit)).await {
            Ok((200, body)) => {
                if !is_it(&body, &subject) {
                    load.ledger.wrong(format!("a wait for {subject} got another message"));
                }
                // The message is due when it is accepted, or when the wait began again.
                let due = load.ledger.accepted_at(&subject).unwrap_or(began).max(began);
                load.ledger.done(Kind::Wait, number, due.min(Instant::now()), tries + 1);
                return;
            }
            Ok((408, _)) => {
                let deadline = began + Duration::from_secs(LONG);
                let at = load.ledger.accepted_at(&subject);
                if at.is_some_and(|at| at + MARGIN < deadline) {
                    load.ledger.wrong(format!("a wait for {subject} timed out, which was there"));
                }
            }
            Ok((503 | 429, _)) => load.ledger.refused(),
            Ok((status, body)) => {
                let body = String::from_utf8_lossy(&body).into_owned();
                load.ledger.wrong(format!("a wait for {subject} got {status}: {body}"));
            }
            Err(_) => load.ledger.broken(),
        }
        if load.is_stopped() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn is_it(body: &[u8], subject: &str) -> bool {
    let body = serde_json::from_slice::<Value>(body);
    body.is_ok_and(|body| body["message"]["subject"] == subject)
}

/// Waits for what never comes: the answer is 408, at the deadline.
pub(super) async fn wait_in_vain(load: Arc<Load>, number: usize) {
    let path = load.inbox.path(&format!("/messages/wait?timeout={SHORT}&subject=never"));
    let mut tries = 0;
    while !load.is_stopped() {
        let deadline = Instant::now() + Duration::from_secs(SHORT);
        let limit = Duration::from_secs(SHORT) + PATIENCE;
        tries += 1;
        match answer(load.request(number + tries - 1, &path).timeout(limit)).await {
            Ok((408, _)) => {
                if Instant::now() + MARGIN / 10 < deadline {
                    load.ledger.wrong("a wait timed out before its deadline".to_owned());
                }
                load.ledger.done(Kind::Wait, number + 100, deadline.min(Instant::now()), tries);
                tries = 0;
                continue;
            }
            Ok((503 | 429, _)) => load.ledger.refused(),
            Ok((status, body)) => {
                let body = String::from_utf8_lossy(&body).into_owned();
                load.ledger.wrong(format!("a wait in vain got {status}: {body}"));
            }
            Err(_) => load.ledger.broken(),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

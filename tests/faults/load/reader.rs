//! Readers: what was accepted must be listed, shown and whole from then on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Load, ledger::Kind};

const PACE: Duration = Duration::from_millis(250);
/// Of the last this many mails one is read.
const RECENT: usize = 30;
/// Messages in a list.
const LISTED: usize = 200;

/// Reads until the round ends.
pub(super) async fn read(load: Arc<Load>, number: usize) {
    for n in 0.. {
        if load.is_stopped() {
            break;
        }
        let recent = load.ledger.latest(RECENT);
        // Any of them, in no particular order.
        if let Some((id, subject)) = recent.get((n * 7 + number) % recent.len().max(1)) {
            read_one(&load, number, id, subject).await;
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn read_one(load: &Load, number: usize, id: &str, subject: &str) {
    let (began, mut worst) = (Instant::now(), 0);
    let message = format!("/api/messages/{id}");
    let requests = [
        load.inbox.path(&format!("/messages?limit={LISTED}")),
        message.clone(),
        format!("{message}/raw"),
    ];
    for path in requests {
        let mut tries = 0;
        let Some((status, body)) = load.fetch(number, &path, &mut tries).await else { return };
        worst = tries.max(worst);
        if status != 200 || !is_right(&path, &body, id, subject) {
            let shown: String = String::from_utf8_lossy(&body).chars().take(300).collect();
            load.ledger.wrong(format!("{path} for {subject} answered {status}: {shown}"));
            return;
        }
    }
    load.ledger.done(Kind::Rest, number, began, worst);
}

fn is_right(path: &str, body: &[u8], id: &str, subject: &str) -> bool {
    if path.ends_with("/raw") {
        let line = format!("Subject: {subject}\r\n");
        return body.windows(line.len()).any(|window| window == line.as_bytes());
    }
    let Ok(json) = serde_json::from_slice::<Value>(body) else { return false };
    let is_it = |message: &Value| message["id"] == id && message["subject"] == subject;
    match json["messages"].as_array() {
        Some(messages) => {
            // By the time of the answer there may be too many newer ones; ids are in order.
            let newer = |message: &Value| message["id"].as_str() > Some(id);
            let is_full = messages.len() == LISTED && messages.iter().all(newer);
            is_full || messages.iter().any(is_it)
        }
        None => is_it(&json),
    }
}

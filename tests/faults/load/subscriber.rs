//! Subscribers: they follow the inbox's events, and go on where a stream broke off.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use tokio::time::timeout;

use super::{AGAIN, Load};

/// There is a comment every 15 seconds; a stream that is silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(20);

/// Follows until it is stopped.
pub(super) async fn follow(load: Arc<Load>, number: usize) {
    let (mut last, mut open) = (None, false);
    for tries in 0.. {
        let path = load.inbox.path("/events");
        let mut request = load.request(number + tries, &path).header("accept", "text/event-stream");
        if let Some(last) = &last {
            request = request.header("last-event-id", last);
        }
        match timeout(SILENCE, request.send()).await {
            Ok(Ok(answer)) if answer.status() == 200 => {
                read(&load, number, answer, &mut last, &mut open).await;
                load.ledger.broken();
            }
            Ok(Ok(answer)) if answer.status() == 503 => load.ledger.refused(),
            Ok(Ok(answer)) => load.ledger.wrong(format!("a stream got {}", answer.status())),
            _ => load.ledger.broken(),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Reads a stream to its end.
async fn read(
    load: &Load,
    number: usize,
    mut answer: reqwest::Response,
    last: &mut Option<String>,
    open: &mut bool,
) {
    let mut text = String::new();
    while let Ok(Ok(Some(chunk))) = timeout(SILENCE, answer.chunk()).await {
        if !std::mem::replace(open, true) {
            load.streams.fetch_add(1, Ordering::Relaxed);
        }
        // The product writes JSON in ASCII-compatible pieces; the subjects here are ASCII.
        text.push_str(&String::from_utf8_lossy(&chunk));
        while let Some((block, rest)) = text.split_once("\n\n") {
            event(load, number, block, last);
            text = rest.to_owned();
        }
    }
}

fn event(load: &Load, number: usize, block: &str, last: &mut Option<String>) {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if let Some(id) = field("id:") {
        *last = Some(id.to_owned());
    }
    if field("event:") == Some("message.created") {
        let data: Option<Value> = field("data:").and_then(|data| serde_json::from_str(data).ok());
        match data.as_ref().and_then(|data| data["message"]["id"].as_str()) {
            Some(id) => load.ledger.told(number, id),
            None => load.ledger.wrong(format!("an event without a message: {block}")),
        }
    }
}

//! What goes wrong in the month: bytes are damaged, and a task comes that only a later release knows.

use serde_json::json;
use trapline_tests::{Backstage, Deployment, Rest, TestClock};

use crate::traffic::Traffic;

/// What the task of a later release is about.
const SUBJECT: &str = "of a later release";
/// The shard of that: its CRC-32C modulo eight.
const SHARD: u8 = 5;
/// The segments among which a message of this day is.
const RECENT: u32 = 500;

/// A task that is due now.
pub(crate) async fn plan_unknown(server: &Deployment, clock: &TestClock) {
    let due = clock.millis();
    let row = json!({
        "queue": "segments",
        "minute": due.div_euclid(60_000),
        "shard": SHARD,
        "due_ms": due,
        "subject": SUBJECT,
        "doc": unknown(),
        "version": 0,
    });
    server.backstage().await.put("maintenance_task", &row).await;
}

fn unknown() -> String {
    let task = json!({ "sweep_floors": { "number": 7 } });
    json!({ "due": "2026-01-31T09:30:00.000Z", "subject": SUBJECT, "task": task }).to_string()
}

/// The task still waits, as it was.
pub(crate) async fn unknown_waits(server: &Deployment) -> Vec<String> {
    let tasks = server.backstage().await.docs("maintenance_task", "subject", SUBJECT).await;
    if tasks == [unknown()] {
        return Vec::new();
    }
    vec![format!("the task of a later release became {tasks:?}")]
}

/// Changes a byte of the last message of the second inbox, and one in the footer of the segment of the
/// message before it.
pub(crate) async fn damage(server: &Deployment, traffic: &mut Traffic) {
    let (rest, backstage) = (server.rest(), server.backstage().await);
    let lasting = &mut traffic.lasting[1];
    let [.., (whole, _), (damaged, _)] = lasting.accepted.as_slice() else { return };
    for (id, in_footer) in [(whole, true), (damaged, false)] {
        let (name, mut segment, at) = segment_of(&rest, &backstage, id).await;
        // A kilobyte behind the subject is in the middle of the text.
        let place = if in_footer { segment.len() - 20 } else { at + 1_000 };
        segment[place] ^= 0x20;
        backstage.overwrite_segment(&name, segment).await;
    }
    lasting.damaged.insert(damaged.clone());
}

/// The segment of a message, and where in it its subject is.
async fn segment_of(rest: &Rest, backstage: &Backstage, id: &str) -> (String, Vec<u8>, usize) {
    let message = rest.message(id).await;
    let subject = format!("Subject: {}\r\n", message["subject"].as_str().unwrap());
    let found = backstage.find_segment(subject.as_bytes(), RECENT).await;
    let (name, segment, at) = found.unwrap_or_else(|| panic!("no segment has {subject}"));
    (name, segment.to_vec(), at)
}

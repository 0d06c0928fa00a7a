//! What fails is in nobody's way.

use std::{sync::Arc, time::Duration};

use serde_json::{Value as Json, json};
use trapline_app::{Lane, run_janitor};
use trapline_model::Time;
use trapline_store::{
    Group, Job, Key, Op, Record as _, Scan, Value, When,
    records::{Chore, Outbox, SHARDS},
    segment::{Class, name},
};
use uuid::{ContextV7, Timestamp, Uuid};

use crate::support::{Bench, Volatile};

const HOUR: Duration = Duration::from_hours(1);

fn chore(due: Time, subject: &str, task: &Json) -> (Key, String) {
    let doc = json!({ "due": due, "subject": subject, "task": { "check_segment": { "visits": 0, "aliases": [] } } });
    let key = serde_json::from_value::<Chore>(doc.clone()).unwrap().key();
    let mut doc = doc;
    doc["task"] = task.clone();
    (key, doc.to_string())
}

async fn put(bench: &Bench, (key, doc): (Key, String)) {
    let put = Op::Put { key, doc, ttl: None, when: When::Always };
    bench.ports.store.write(vec![put]).await.unwrap();
}

/// A segment of bytes that are none, and its chore.
async fn junk(bench: &Bench, number: u64) -> String {
    let at = Timestamp::from_unix(ContextV7::new(), 1_800_000_000, u32::try_from(number).unwrap());
    let segment = name(Class::Keep, Uuid::new_v7(at));
    let group = Group {
        segment: segment.clone(),
        bytes: "junk".into(),
        before: Vec::new(),
        rows: Vec::new(),
        job: None,
    };
    bench.ports.intake.commit(group).await.unwrap();
    let task = json!({ "check_segment": { "visits": 0, "aliases": [] } });
    put(bench, chore(bench.clock.now().after(Duration::from_secs(1)), &segment, &task)).await;
    segment
}

/// Every chore of the days around now, with the documents as they are.
async fn chores(bench: &Bench) -> Vec<(Time, String, Json)> {
    let now = Chore::hour(bench.clock.now());
    let mut found = Vec::new();
    for hour in now - 48..now + 48 {
        for shard in 0..SHARDS {
            let due = Chore::due_in(hour, shard, bench.clock.now().after(48 * HOUR), 1_000);
            for row in bench.ports.store.scan(Scan { until: None, ..due }).await.unwrap() {
                let [Value::Int(due), Value::Text(subject)] = &row.sort[..] else {
                    panic!("{:?}", row.sort)
                };
                let doc = serde_json::from_str(&row.doc).unwrap();
                found.push((Time::from_millis(*due), subject.clone(), doc));
            }
        }
    }
    found
}

#[tokio::test]
async fn chores_that_fail_hold_up_no_others() {
    let bench = Bench::with(|ports| ports.queue = Arc::new(Volatile(ports.queue.clone()))).await;
    // Enough that each shard has one.
    for number in 0..64 {
        junk(&bench, number).await;
    }
    let inbox = bench.inbox(10, Some(Duration::from_secs(2))).await;
    let due = bench.clock.now().before(Duration::from_mins(6));
    for number in 0..32 {
        let body = json!({ "due": due, "work": null });
        let job = Job { id: format!("lost-{number}"), lane: Lane::Mail, attempt: 1, body };
        let row = Outbox { due, job };
        put(&bench, (row.key(), row.doc().unwrap())).await;
        // A job of a lane that a newer release has, in front of it.
        let unknown = row.doc().unwrap().replace("\"mail\"", "\"pigeon\"");
        let mut key = row.key();
        key.sort[0] = Value::Int(due.millis() - 1);
        put(&bench, (key, unknown)).await;
    }
    let janitor = tokio::spawn(run_janitor(bench.app.clone(), "1".to_owned()));
    let rounds = async {
        let mut again = 0;
        let of_inbox = |(_, subject, _): &(Time, String, Json)| *subject == inbox.id.to_string();
        while chores(&bench).await.iter().any(of_inbox) || again < 32 {
            bench.clock.advance(Duration::from_secs(6));
            tokio::time::sleep(Duration::from_millis(5)).await;
            let jobs = bench.app.take_jobs(Lane::Mail, 100, Duration::ZERO).await.unwrap();
            again += jobs.len();
        }
    };
    tokio::time::timeout(Duration::from_mins(1), rounds).await.expect("all else was done");
    bench.app.shutdown().cancel();
    janitor.await.unwrap();
    let left = chores(&bench).await;
    assert_eq!(left.len(), 64, "what failed is tried again");
}

#[tokio::test]
async fn a_chore_that_always_fails_is_tried_once_a_day_and_kept() {
    let bench = Bench::new().await;
    let segment = junk(&bench, 0).await;
    for _ in 0..72 {
        bench.clock.advance(HOUR);
        bench.app.tidy().await.unwrap();
    }
    let [(due, subject, _)] = &chores(&bench).await[..] else { panic!("one chore") };
    assert_eq!(*subject, segment);
    assert!(due.since(bench.clock.now()) <= 24 * HOUR);
    let tries = async |hours: u32| {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..hours {
            bench.clock.advance(HOUR);
            bench.app.tidy().await.unwrap();
            seen.insert(chores(&bench).await[0].0);
        }
        seen.len()
    };
    assert!(tries(48).await <= 3);
    // Once what it failed by is gone, it is done.
    bench.ports.blobs.remove(&segment).await.unwrap();
    for _ in 0..25 {
        bench.clock.advance(HOUR);
        bench.app.tidy().await.unwrap();
    }
    assert_eq!(chores(&bench).await, []);
}

#[tokio::test]
async fn a_chore_of_a_newer_release_waits_for_it() {
    let bench = Bench::new().await;
    let now = bench.clock.now();
    let (key, doc) = chore(now.after(HOUR), "something", &json!({ "polish": { "brass": true } }));
    put(&bench, (key, doc.clone())).await;
    for _ in 0..40 {
        bench.clock.advance(HOUR);
        bench.app.tidy().await.unwrap();
    }
    let [(due, subject, kept)] = &chores(&bench).await[..] else { panic!("one chore") };
    assert_eq!((subject.as_str(), kept), ("something", &serde_json::from_str(&doc).unwrap()));
    assert!(*due > bench.clock.now() && due.since(bench.clock.now()) <= HOUR);
    // The release that knows it finds it due by its key, whatever time the document has.
    let task = json!({ "remove_segment": { "aliases": [] } });
    let (mut key, known) = chore(now.after(HOUR), "something", &task);
    key.partition[0] = Value::Int(Chore::hour(*due));
    key.sort[0] = Value::Int(due.millis());
    put(&bench, (key, known)).await;
    bench.clock.advance(2 * HOUR);
    bench.app.tidy().await.unwrap();
    assert_eq!(chores(&bench).await, []);
}

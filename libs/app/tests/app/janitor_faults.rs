//! What fails is in nobody's way.

use std::{collections::HashSet, time::Duration};

use serde_json::{Value as Json, json};
use trapline_app::Lane;
use trapline_model::Time;
use trapline_store::{
    Group, Job, Key, Op, Record as _, Value, When,
    records::{MaintenanceTask, Outbox, TaskQueue},
    segment::{Class, name},
};
use uuid::{ContextV7, Timestamp, Uuid};

use crate::{
    support::Bench,
    watched::{Watch, with_outbox},
};

const HOUR: Duration = Duration::from_hours(1);

/// A task of the segments' queue, of whatever kind.
fn task(due: Time, subject: &str, task: &Json) -> (Key, String) {
    let doc = json!({ "due": due, "subject": subject, "task": task });
    (MaintenanceTask::row(TaskQueue::Segments, due, subject), doc.to_string())
}

async fn put(bench: &Bench, (key, doc): (Key, String)) {
    let put = Op::Put { key, doc, ttl: None, when: When::Always };
    bench.ports.store.write(vec![put]).await.unwrap();
}

/// A segment of bytes that are none, and its check.
async fn junk(bench: &Bench, number: u64) -> String {
    let at = Timestamp::from_unix(ContextV7::new(), 1_800_000_000, u32::try_from(number).unwrap());
    let segment = name(Class::Keep, Uuid::new_v7(at));
    let group = Group {
        segment: segment.clone(),
        bytes: "this is no segment".into(),
        before: Vec::new(),
        rows: Vec::new(),
        job: None,
    };
    bench.ports.intake.commit(group).await.unwrap();
    let check = json!({ "check_segment": { "visits": 0, "aliases": [] } });
    put(bench, task(bench.clock.now().after(Duration::from_secs(1)), &segment, &check)).await;
    segment
}

/// Every task, with the documents as they are.
fn tasks(watch: &Watch) -> Vec<(Time, String, Json)> {
    let read = |(sort, doc): (Vec<Value>, String)| {
        let [Value::Int(due), Value::Text(subject)] = &sort[..] else { panic!("{sort:?}") };
        (Time::from_millis(*due), subject.clone(), serde_json::from_str(&doc).unwrap())
    };
    watch.queued("maintenance_task").into_iter().map(read).collect()
}

async fn watched() -> (Bench, Watch) {
    let watch = Watch::default();
    (Bench::with(|ports| watch.over(ports)).await, watch)
}

#[tokio::test]
async fn tasks_that_fail_hold_up_no_others() {
    let (bench, watch) = with_outbox().await;
    // Enough that each shard has one.
    for number in 0..64 {
        junk(&bench, number).await;
    }
    let inbox = bench.inbox(10, Some(Duration::from_secs(2))).await;
    let due = bench.clock.now();
    for number in 0..32 {
        let body = json!({ "due": due, "work": null });
        let job = Job { id: format!("lost-{number}"), lane: Lane::Mail, attempt: 1, body };
        let row = Outbox { due, job };
        put(&bench, (row.key(), row.doc().unwrap())).await;
        // A job of a lane that a newer release has, in front of it.
        let unknown = row.doc().unwrap().replace("\"mail\"", "\"pigeon\"");
        put(&bench, (Outbox::row(due.before(Duration::from_millis(1)), "pigeon:1"), unknown)).await;
    }
    let janitor = bench.start_janitor();
    let rounds = async {
        let mut again = HashSet::new();
        let of_inbox = |(_, subject, _): &(Time, String, Json)| *subject == inbox.id.to_string();
        while tasks(&watch).iter().any(of_inbox) || again.len() < 32 {
            // A lease must not run out in the midst of a round.
            if watch.all_reads() + watch.writes() == 0 {
                bench.clock.advance(Duration::from_secs(6));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            let jobs = bench.app.jobs().take(Lane::Mail, 100, Duration::ZERO).await.unwrap();
            again.extend(jobs.into_iter().map(|lease| lease.job.id));
        }
    };
    tokio::time::timeout(Duration::from_mins(1), rounds).await.expect("all else was done");
    bench.app.shutdown().cancel();
    janitor.await.unwrap();
    assert_eq!(tasks(&watch).len(), 64, "what failed is tried again");
    let unknown = watch.queued("outbox_by_minute");
    let unknown = unknown.iter().filter(|(_, doc)| doc.contains("pigeon"));
    assert_eq!(unknown.count(), 1, "what is unknown waits");
}

#[tokio::test]
async fn a_task_that_always_fails_is_tried_once_a_day_and_kept() {
    let (bench, watch) = watched().await;
    let segment = junk(&bench, 0).await;
    for _ in 0..20 {
        bench.clock.advance(HOUR);
        bench.app.maintenance().run_due().await.unwrap();
    }
    let [(due, subject, _)] = &tasks(&watch)[..] else { panic!("one task") };
    assert_eq!(*subject, segment);
    assert!(due.since(bench.clock.now()) <= 24 * HOUR);
    let mut seen = HashSet::new();
    for _ in 0..30 {
        bench.clock.advance(HOUR);
        bench.app.maintenance().run_due().await.unwrap();
        seen.insert(tasks(&watch)[0].0);
    }
    assert!(seen.len() <= 2, "{seen:?}");
    // Once what it failed by is gone, it is done.
    bench.ports.blobs.remove(&segment).await.unwrap();
    for _ in 0..25 {
        bench.clock.advance(HOUR);
        bench.app.maintenance().run_due().await.unwrap();
    }
    assert_eq!(tasks(&watch), []);
}

#[tokio::test]
async fn a_task_of_a_newer_release_waits_for_it() {
    let (bench, watch) = watched().await;
    let now = bench.clock.now();
    let (key, doc) = task(now.after(HOUR), "something", &json!({ "polish": { "brass": true } }));
    put(&bench, (key, doc.clone())).await;
    for _ in 0..12 {
        bench.clock.advance(HOUR);
        bench.app.maintenance().run_due().await.unwrap();
    }
    let [(due, subject, kept)] = &tasks(&watch)[..] else { panic!("one task") };
    assert_eq!((subject.as_str(), kept), ("something", &serde_json::from_str(&doc).unwrap()));
    assert!(*due > bench.clock.now() && due.since(bench.clock.now()) <= HOUR);
    // The release that knows it finds it due by its key, whatever time the document has.
    let known = json!({ "remove_segment": { "aliases": [] } });
    let (_, known) = task(now.after(HOUR), "something", &known);
    put(&bench, (MaintenanceTask::row(TaskQueue::Segments, *due, "something"), known)).await;
    bench.clock.advance(2 * HOUR);
    bench.app.maintenance().run_due().await.unwrap();
    assert_eq!(tasks(&watch), []);
}

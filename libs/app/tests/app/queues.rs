//! Queues in tables: what was passed is never read again, and what comes late is found.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use trapline_app::Lane;
use trapline_model::Time;
use trapline_store::{
    Clock, Job, Key, Op, Record as _, Result, Row, Scan, Store, Value, When,
    records::{CHORES, HOURLY_OUTBOX, MaintenanceTask, Message, Outbox, TaskKind, WorkLease},
};

use crate::{
    doubles::{LayeredStore, StoreLayer, as_in_a_cluster},
    support::Bench,
    watched::{Watch, with_outbox},
};

const MINUTE: Duration = Duration::from_mins(1);

fn lost(due: Time, id: &str) -> Outbox {
    let body = json!({ "due": due, "work": null });
    Outbox { due, job: Job { id: id.to_owned(), lane: Lane::Mail, attempt: 1, body } }
}

async fn write(bench: &Bench, op: Op) {
    bench.ports.store.write(vec![op]).await.unwrap();
}

/// A minute's worth of jobs that come and are done.
async fn a_minute_of_jobs(bench: &Bench) {
    let now = bench.clock.now();
    let row = |second| {
        let due = now.after(Duration::from_secs(second));
        lost(due, &format!("job-{}", due.millis()))
    };
    let rows: Vec<_> = (0..60).map(row).collect();
    let store = &bench.ports.store;
    store.write(rows.iter().map(|row| row.put().unwrap()).collect()).await.unwrap();
    let delete = |row: &Outbox| Op::Delete { key: row.key(), when: When::Always };
    store.write(rows.iter().map(delete).collect()).await.unwrap();
    bench.clock.advance(MINUTE);
}

/// Each round is one of a process that has just started, or has just taken over a lease.
#[tokio::test]
async fn a_round_reads_no_more_after_an_hour_than_after_a_minute() {
    let (bench, watch) = with_outbox().await;
    let mut reads = Vec::new();
    for _ in 0..60 {
        a_minute_of_jobs(&bench).await;
        bench.app.maintenance().run_due().await.unwrap();
        let now = bench.clock.now();
        let oldest = watch.buckets().into_iter().filter_map(|partition| {
            partition.into_iter().find_map(|value| match value {
                Value::Int(minute) if minute > 1_000 => Some(minute),
                _ => None,
            })
        });
        let passed = now.before(7 * MINUTE).millis().div_euclid(60_000);
        assert!(
            oldest.min().is_none_or(|oldest| oldest >= passed),
            "what was passed is read again"
        );
        reads.push(watch.reads());
    }
    let (of_minute, of_hour) = (reads[10], reads[59]);
    assert_eq!(of_hour, of_minute);
    assert_eq!(of_hour.1, 0, "no row is read that is not left behind");
}

/// A store whose reads take a while by this clock.
struct SlowStore(Arc<dyn Store>, Arc<OnceLock<Clock>>);

#[async_trait]
impl StoreLayer for SlowStore {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        if let Some(clock) = self.1.get() {
            clock.advance(Duration::from_millis(3));
            tokio::task::yield_now().await;
        }
        self.0.scan(scan).await
    }
}

#[tokio::test]
async fn a_round_ends_though_time_goes_on_while_it_reads() {
    let (watch, clock) = (Watch::default(), Arc::new(OnceLock::new()));
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(SlowStore(ports.store.clone(), clock.clone())));
        watch.over(ports);
        as_in_a_cluster(ports);
    })
    .await;
    bench.app.maintenance().run_due().await.unwrap();
    bench.clock.advance(10 * MINUTE);
    clock.set(bench.clock.clone()).unwrap();
    watch.reads();
    let before = bench.clock.now();
    tokio::select! {
        done = bench.app.maintenance().run_due() => assert_eq!(done.unwrap(), 0),
        // Far more than reading ten minutes of each shard takes.
        () = async { while bench.clock.now().since(before) < MINUTE { tokio::task::yield_now().await } } => {
            panic!("it does not end: {} reads so far", watch.reads().0)
        }
    }
}

#[tokio::test]
async fn a_lost_job_comes_back_once_and_its_row_goes_with_it() {
    let (bench, watch) = with_outbox().await;
    let now = bench.clock.now();
    write(&bench, lost(now, "lost").put().unwrap()).await;
    let take = async || bench.app.jobs().take(Lane::Mail, 10, Duration::ZERO).await.unwrap();
    bench.app.maintenance().run_due().await.unwrap();
    assert!(take().await.is_empty(), "it may still be on its way");
    bench.clock.advance(MINUTE);
    bench.app.maintenance().run_due().await.unwrap();
    let mut leases = take().await;
    assert_eq!(leases.len(), 1);
    assert_eq!(watch.queued("outbox_by_minute").len(), 1);
    bench.app.jobs().complete(leases.remove(0)).await.unwrap();
    assert_eq!(watch.queued("outbox_by_minute"), []);
}

#[tokio::test]
async fn a_job_that_nobody_finishes_is_given_up_in_the_end() {
    let (bench, watch) = with_outbox().await;
    let now = bench.clock.now();
    bench.app.maintenance().run_due().await.unwrap();
    bench.clock.advance(MINUTE);
    // Put off for two weeks already.
    let row = Outbox { due: bench.clock.now(), ..lost(now.before(15 * 24 * 60 * MINUTE), "old") };
    write(&bench, row.put().unwrap()).await;
    bench.clock.advance(MINUTE);
    bench.app.maintenance().run_due().await.unwrap();
    assert_eq!(watch.queued("outbox_by_minute"), []);
}

/// The janitor was there before the row: a writer's clock is behind, or its write took long.
#[tokio::test]
async fn rows_that_come_late_are_found() {
    let (bench, watch) = with_outbox().await;
    let janitor = bench.start_janitor();
    let run = async |steps: u32| {
        for _ in 0..steps {
            bench.clock.advance(Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    run(30).await;
    let now = bench.clock.now();
    let late = now.before(4 * MINUTE);
    write(&bench, lost(late, "late").put().unwrap()).await;
    let task = TaskKind::RemoveSegment { aliases: Vec::new() };
    let task = MaintenanceTask::new(late, "nothing".to_owned(), task);
    write(&bench, task.planned().unwrap()).await;
    let found = async {
        let mut jobs = 0;
        while jobs == 0 || !watch.queued("maintenance_task").is_empty() {
            run(1).await;
            jobs += bench.app.jobs().take(Lane::Mail, 9, Duration::ZERO).await.unwrap().len();
        }
    };
    tokio::time::timeout(MINUTE, found).await.expect("both are found");
    bench.app.shutdown().cancel();
    janitor.await.unwrap();
}

/// Who starts again goes on where it was, also after a day in which nobody did anything.
#[tokio::test]
async fn what_became_due_while_nobody_looked_is_done() {
    let (bench, watch) = with_outbox().await;
    bench.app.maintenance().run_due().await.unwrap();
    for number in 0..100 {
        let due = bench.clock.now().after(number * 10 * MINUTE);
        let task = TaskKind::RemoveSegment { aliases: Vec::new() };
        let task = MaintenanceTask::new(due, format!("segment {number}"), task);
        write(&bench, task.planned().unwrap()).await;
    }
    bench.clock.advance(17 * 60 * MINUTE);
    assert_eq!(bench.app.maintenance().run_due().await.unwrap(), 100);
    assert_eq!(watch.queued("maintenance_task"), []);
    assert_eq!(bench.app.maintenance().run_due().await.unwrap(), 0);
}

/// Whoever backs a cluster up reads the rows first: what these name stays until the bytes are read, too.
#[tokio::test]
async fn segments_stay_while_a_backup_is_under_way() {
    let (bench, watch) = with_outbox().await;
    bench.app.maintenance().run_due().await.unwrap();
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "backed up").await;
    let row = bench.ports.store.get(&Message::row(id)).await.unwrap().unwrap();
    let segment = Message::of(&row).unwrap().blob.segment;
    let lease = WorkLease { name: WorkLease::BACKUP.to_owned(), holder: "somebody".to_owned() };
    write(&bench, Op::put(&lease, Some(150 * MINUTE), When::Absent).unwrap()).await;
    bench.app.messages().delete(&bench.by, id).await.unwrap();
    let task = TaskKind::RemoveSegment { aliases: Vec::new() };
    let task = MaintenanceTask::new(bench.clock.now(), segment.clone(), task);
    write(&bench, task.planned().unwrap()).await;
    let hours = async |count: u32| {
        for _ in 0..count {
            bench.clock.advance(61 * MINUTE);
            bench.app.maintenance().run_due().await.unwrap();
        }
    };
    hours(2).await;
    assert!(bench.ports.blobs.segment(&segment).await.unwrap().is_some());
    assert!(!watch.queued("maintenance_task").is_empty(), "what was put off is still to be done");
    hours(2).await;
    assert!(bench.ports.blobs.segment(&segment).await.unwrap().is_none());
}

/// A round over a queue that has more rows than a page, some of them due at the same instant.
#[tokio::test]
async fn every_row_of_a_crowded_minute_is_met_once() {
    let (bench, _watch) = with_outbox().await;
    let now = bench.clock.now();
    bench.app.maintenance().run_due().await.unwrap();
    let task = |number: u64| {
        let due = now.after(Duration::from_millis(number / 500));
        let task = TaskKind::RemoveSegment { aliases: Vec::new() };
        MaintenanceTask::new(due, format!("segment {number}"), task).planned().unwrap()
    };
    bench.ports.store.write((0..2_000).map(task).collect()).await.unwrap();
    bench.clock.advance(MINUTE);
    assert_eq!(bench.app.maintenance().run_due().await.unwrap(), 2_000);
}

/// Rows of a release that had its queues by the hour.
#[tokio::test]
async fn what_waited_in_hours_waits_in_minutes_after_an_upgrade() {
    let (bench, watch) = with_outbox().await;
    let (store, now) = (&bench.ports.store, bench.clock.now());
    store.prepare(&[CHORES, HOURLY_OUTBOX]).await.unwrap();
    let hourly = |table, due: Time, name: &str, doc: String| {
        let partition = vec![Value::Int(due.millis().div_euclid(3_600_000)), Value::Int(0)];
        let sort = vec![Value::Int(due.millis()), Value::Text(name.to_owned())];
        Op::Put { key: Key { table, partition, sort }, doc, ttl: None, when: When::Always }
    };
    let chore = |due: Time, name: &str, task: serde_json::Value| {
        let doc = json!({ "due": due, "subject": name, "task": task });
        hourly(CHORES, due, name, doc.to_string())
    };
    let remove = json!({ "remove_segment": { "aliases": [] } });
    let (overdue, later) = (now.before(100 * MINUTE), now.after(150 * MINUTE));
    let job = lost(overdue, "lost");
    store
        .write(vec![
            chore(overdue, "overdue", remove.clone()),
            chore(later, "later", remove),
            chore(later, "unknown", json!({ "polish": {} })),
            hourly(HOURLY_OUTBOX, overdue, "mail:lost", job.doc().unwrap()),
        ])
        .await
        .unwrap();
    bench.forget_upgrades().await;
    bench.app.upgrades().run().await.unwrap();
    for table in [CHORES, HOURLY_OUTBOX] {
        assert_eq!(store.partitions(table).await.unwrap(), Vec::<Vec<Value>>::new());
    }
    let waiting = |table| watch.queued(table).len();
    assert_eq!((waiting("maintenance_task"), waiting("outbox_by_minute")), (3, 1));
    bench.clock.advance(MINUTE);
    assert_eq!(bench.app.maintenance().run_due().await.unwrap(), 1);
    let jobs = bench.app.jobs().take(Lane::Mail, 9, Duration::ZERO).await.unwrap();
    assert_eq!(jobs.len(), 1);
    bench.clock.advance(160 * MINUTE);
    assert_eq!(bench.app.maintenance().run_due().await.unwrap(), 1);
    assert_eq!(waiting("maintenance_task"), 1);
}

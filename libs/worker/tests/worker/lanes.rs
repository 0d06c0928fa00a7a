//! The job loop: how many at once, what becomes of failures, leases, and the end.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{Semaphore, mpsc};
use trapline_app::{Error, NewInbox, Supervisor};
use trapline_store::{Job, Lane};
use trapline_worker::{Housekeeping, JobHandler, JobOutcome, Worker};

use crate::bench::Bench;

type Rule = Box<dyn Fn(&Job) -> Result<JobOutcome, Error> + Send + Sync>;

/// Reports each job as it begins, and goes on once the gate lets it.
struct Gated {
    concurrency: usize,
    rule: Rule,
    gate: Semaphore,
    began: mpsc::UnboundedSender<Job>,
    running: AtomicUsize,
    most: AtomicUsize,
}

fn gated(
    concurrency: usize,
    rule: impl Fn(&Job) -> Result<JobOutcome, Error> + Send + Sync + 'static,
) -> (Arc<Gated>, mpsc::UnboundedReceiver<Job>) {
    let (began, jobs) = mpsc::unbounded_channel();
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (rule, gate) = (Box::new(rule), Semaphore::new(0));
    (Arc::new(Gated { concurrency, rule, gate, began, running, most }), jobs)
}

/// As [`gated`], with the gate open.
fn open(
    rule: impl Fn(&Job) -> Result<JobOutcome, Error> + Send + Sync + 'static,
) -> (Arc<Gated>, mpsc::UnboundedReceiver<Job>) {
    let (handler, jobs) = gated(4, rule);
    handler.gate.add_permits(1000);
    (handler, jobs)
}

#[async_trait]
impl JobHandler for Gated {
    fn lane(&self) -> Lane {
        Lane::Webhook
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    async fn run(&self, job: &Job) -> Result<JobOutcome, Error> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        self.began.send(job.clone()).unwrap();
        self.gate.acquire().await.unwrap().forget();
        self.running.fetch_sub(1, Ordering::SeqCst);
        (self.rule)(job)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a rule may fail")]
fn done(_: &Job) -> Result<JobOutcome, Error> {
    Ok(JobOutcome::Complete)
}

#[tokio::test]
async fn no_more_jobs_run_or_are_held_than_the_handler_says() {
    let bench = Bench::new().await;
    let (handler, mut began) = gated(3, done);
    for number in 0..20 {
        bench.publish(&number.to_string()).await;
    }
    let lane = bench.start(handler.clone());
    for _ in 0..3 {
        began.recv().await.unwrap();
    }
    let stats = bench.stats().await;
    assert_eq!((stats.leased, stats.ready), (3, 17));
    handler.gate.add_permits(20);
    bench.until(|stats| stats.leased + stats.ready == 0).await;
    assert_eq!(handler.most.load(Ordering::SeqCst), 3);
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_failed_job_comes_again_after_thirty_seconds_and_is_given_up_after_the_tenth() {
    let bench = Bench::new().await;
    let (handler, mut began) = open(|_| Err(Error::NotFound));
    bench.publish("failing").await;
    let lane = bench.start(handler);
    let mut work = None;
    for attempt in 1..=10 {
        let job = began.recv().await.unwrap();
        assert_eq!((job.id.as_str(), job.attempt), ("failing", attempt));
        assert_eq!(work.get_or_insert(job.body["work"].clone()), &job.body["work"]);
        bench.until(|stats| stats.leased == 0).await;
        bench.clock.advance(Duration::from_secs(29));
        assert!(began.try_recv().is_err());
        bench.clock.advance(Duration::from_secs(1));
    }
    bench.until(|stats| stats.delayed + stats.leased + stats.ready == 0).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
    assert!(began.recv().await.is_none());
}

/// A worker of an earlier release takes the job more often than a job may fail, before one of its own
/// release does.
#[tokio::test]
async fn a_job_of_a_later_release_is_left_to_it() {
    const TAKEN: u32 = 14;
    let bench = Bench::new().await;
    let mut of_later = bench.job("later", 1, Duration::ZERO);
    of_later.body["work"] = serde_json::json!({ "of_a_later_release": { "id": 1 } });
    let unknown = bench.app.maintenance().housekeep(&of_later).await.unwrap_err();
    assert!(unknown.is_unknown_work(), "{unknown}");
    let taken = AtomicUsize::new(0);
    let (handler, mut began) = open(move |_| {
        if taken.fetch_add(1, Ordering::SeqCst) == TAKEN as usize {
            return Ok(JobOutcome::Complete);
        }
        let source = serde_json::from_str::<u8>("{}").unwrap_err();
        Err(trapline_store::PortError::Corrupt { table: "job", source }.into())
    });
    bench.ports.queue.publish(&of_later, None).await.unwrap();
    let lane = bench.start(handler);
    for times in 0..TAKEN {
        let job = began.recv().await.unwrap();
        assert_eq!((&job.id, job.attempt), (&of_later.id, 1), "that counts as no failure");
        assert_eq!(job.body["work"], of_later.body["work"]);
        bench.until(|stats| stats.leased == 0).await;
        let pause = Duration::from_secs(2_u64.pow(times).min(3_600));
        bench.clock.advance(pause.saturating_sub(Duration::from_millis(1)));
        assert!(began.try_recv().is_err(), "too early");
        bench.clock.advance(Duration::from_millis(1));
    }
    began.recv().await.unwrap();
    bench.until(|stats| stats.delayed + stats.leased + stats.ready == 0).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_panic_is_a_failure_of_its_job_alone() {
    let bench = Bench::new().await;
    let (handler, mut began) = open(|job| {
        assert_ne!((job.id.as_str(), job.attempt), ("broken", 1), "a handler's mistake");
        Ok(JobOutcome::Complete)
    });
    bench.publish("broken").await;
    let lane = bench.start(handler);
    began.recv().await.unwrap();
    bench.until(|stats| stats.delayed == 1).await;
    bench.publish("whole").await;
    assert_eq!(began.recv().await.unwrap().id, "whole");
    bench.clock.advance(Duration::from_secs(30));
    assert_eq!(began.recv().await.unwrap().attempt, 2);
    bench.until(|stats| stats.delayed + stats.leased + stats.ready == 0).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_job_that_names_the_next_is_replaced_by_it() {
    let bench = Bench::new().await;
    let next = Mutex::new(Some(bench.job("ladder", 2, Duration::from_mins(2))));
    let (handler, mut began) = open(move |_| {
        Ok(next.lock().unwrap().take().map_or(JobOutcome::Complete, JobOutcome::Reschedule))
    });
    bench.publish("ladder").await;
    let lane = bench.start(handler);
    assert_eq!(began.recv().await.unwrap().attempt, 1);
    bench.until(|stats| stats.delayed == 1 && stats.leased == 0).await;
    bench.clock.advance(Duration::from_mins(2));
    assert_eq!(began.recv().await.unwrap().attempt, 2);
    bench.until(|stats| stats.delayed + stats.leased + stats.ready == 0).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_job_that_takes_long_is_not_taken_twice() {
    let bench = Bench::new().await;
    let (handler, mut began) = gated(1, done);
    bench.publish("long").await;
    let lane = bench.start(handler.clone());
    began.recv().await.unwrap();
    // Each round is longer than a third of the lease and all of them longer than the lease.
    for round in 1..=5 {
        bench.clock.advance(Duration::from_secs(11));
        for _ in 0..15 {
            if bench.extended.load(Ordering::SeqCst) >= round {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            bench.clock.advance(Duration::from_secs(1));
        }
        assert!(bench.extended.load(Ordering::SeqCst) >= round);
        assert!(bench.take().await.is_empty());
    }
    handler.gate.add_permits(1);
    bench.until(|stats| stats.leased == 0).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn the_end_waits_for_what_runs_and_takes_nothing_more() {
    let bench = Bench::new().await;
    let (handler, mut began) = gated(1, done);
    bench.publish("running").await;
    let mut lane = bench.start(handler.clone());
    began.recv().await.unwrap();
    bench.app.shutdown().cancel();
    bench.publish("late").await;
    assert!(tokio::time::timeout(Duration::from_millis(50), &mut lane).await.is_err());
    handler.gate.add_permits(2);
    lane.await.unwrap();
    let stats = bench.stats().await;
    assert_eq!((stats.leased, stats.ready), (0, 1));
    assert!(began.try_recv().is_err());
}

#[tokio::test]
async fn the_end_does_not_wait_for_ever_and_the_job_runs_elsewhere() {
    let bench = Bench::new().await;
    let (handler, mut began) = gated(1, done);
    bench.publish("hanging").await;
    let lane = bench.start(handler);
    began.recv().await.unwrap();
    bench.app.shutdown().cancel();
    tokio::time::pause();
    lane.await.unwrap();
    tokio::time::resume();
    assert!(bench.take().await.is_empty());
    bench.clock.advance(Duration::from_secs(31));
    assert_eq!(bench.take().await[0].job.id, "hanging");
}

#[tokio::test]
async fn the_loop_itself_shows_that_it_lives() {
    let bench = Bench::new().await;
    assert!(!bench.app.maintenance().deep_health().await.unwrap().worker);
    let (handler, mut began) = open(done);
    let lane = bench.start(handler);
    for name in ["one", "two"] {
        bench.publish(name).await;
        began.recv().await.unwrap();
        // The job may begin a moment before the loop that took it shows itself.
        let shown = async {
            while !bench.app.maintenance().deep_health().await.unwrap().worker {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), shown).await.expect("a sign of life");
        // Nothing beside the loop beats: it goes on only when there is work.
        bench.clock.advance(Duration::from_secs(46));
        assert!(!bench.app.maintenance().deep_health().await.unwrap().worker);
    }
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_deleted_inbox_loses_its_rows_to_the_housekeeping_lane() {
    let bench = Bench::new().await;
    let inbox = bench.app.inboxes().create(&bench.by, NewInbox::named("gone")).await.unwrap();
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    let left = || async { bench.ports.queue.stats(Lane::Housekeeping).await.unwrap() };
    assert_eq!(left().await.delayed, 1);
    let mut worker = Worker::new(bench.app.clone());
    worker.register(Housekeeping::new(bench.app.clone()));
    let tasks = Supervisor::new(bench.app.shutdown().clone());
    worker.start(&tasks, "1", "test".to_owned());
    bench.clock.advance(Duration::from_secs(11));
    while left().await != trapline_store::LaneStats::default() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.app.shutdown().cancel();
    tasks.wait_for_all().await;
}

/// Breaks its lane's loop, not a job.
struct Broken;

#[async_trait]
impl JobHandler for Broken {
    fn lane(&self) -> Lane {
        Lane::Mail
    }

    fn concurrency(&self) -> usize {
        panic!("as planned")
    }

    async fn run(&self, _: &Job) -> Result<JobOutcome, Error> {
        Ok(JobOutcome::Complete)
    }
}

#[tokio::test]
async fn a_lane_that_breaks_is_told_of_and_ends_the_others_signs_of_life() {
    let bench = Bench::new().await;
    let mut worker = Worker::new(bench.app.clone());
    worker.register(Housekeeping::new(bench.app.clone()));
    worker.register(Broken);
    let tasks = Supervisor::new(bench.app.shutdown().clone());
    worker.start(&tasks, "1", "test".to_owned());
    assert_eq!(tasks.first_failure().await, "mail");
    // What the process does then; nobody beats for the lane that is gone.
    bench.app.shutdown().cancel();
    tasks.wait_for_all().await;
    bench.clock.advance(Duration::from_secs(46));
    assert!(!bench.app.maintenance().deep_health().await.unwrap().worker);
}

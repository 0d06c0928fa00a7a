//! Each reason of the deep health check, by really breaking that part, and its end.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{sync::watch, task::JoinHandle};
use trapline_app::{App, Error, Supervisor};
use trapline_model::Time;
use trapline_store::{Job, Lane, LaneStats, Lease, Op, Queue, Result};
use trapline_worker::{Housekeeping, JobHandler, JobOutcome, Worker};

use crate::bench::Bench;

/// Does every job at once.
struct Willing;

#[async_trait]
impl JobHandler for Willing {
    fn lane(&self) -> Lane {
        Lane::Webhook
    }

    fn concurrency(&self) -> usize {
        100
    }

    async fn run(&self, _: &Job) -> std::result::Result<JobOutcome, Error> {
        Ok(JobOutcome::Complete)
    }
}

/// Gives no answer to who asks it for jobs of a lane, while it is blocked.
struct Blocked {
    queue: Arc<dyn Queue>,
    is_blocked: watch::Receiver<bool>,
}

#[async_trait]
impl Queue for Blocked {
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        self.queue.publish(job, due).await
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> Result<()> {
        self.queue.publish_with(rows, jobs).await
    }

    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        if lane == Lane::Webhook {
            // Who blocks it is there as long as the test.
            drop(self.is_blocked.clone().wait_for(|is_blocked| !is_blocked).await);
        }
        self.queue.take(lane, max, wait).await
    }

    async fn finish(&self, lease: Lease) -> Result<()> {
        self.queue.finish(lease).await
    }

    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()> {
        self.queue.retry(lease, next, due).await
    }

    async fn extend(&self, lease: &Lease) -> Result<()> {
        self.queue.extend(lease).await
    }

    async fn stats(&self, lane: Lane) -> Result<LaneStats> {
        self.queue.stats(lane).await
    }
}

async fn reasons(app: &App) -> Vec<&'static str> {
    let health = app.maintenance().deep_health().await.unwrap();
    assert_eq!(health.ok, health.reasons.is_empty());
    health.reasons
}

/// Moves the clock on, in steps in which every loop shows itself, until the check finds this.
async fn until(bench: &Bench, wanted: &[&str]) {
    let found = async {
        while reasons(&bench.app).await != wanted {
            bench.app.maintenance().beat("smtp", "1").await;
            bench.clock.advance(Duration::from_secs(5));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(1), found).await;
    assert!(found.is_ok(), "{wanted:?} and not {:?}", reasons(&bench.app).await);
}

fn start(bench: &Bench, tasks: &Supervisor) {
    let mut worker = Worker::new(bench.app.clone());
    worker.register(Willing);
    worker.register(Housekeeping::new(bench.app.clone()));
    worker.start(tasks, "1", "1".to_owned());
}

#[tokio::test]
async fn a_process_that_is_gone_is_missing_until_the_next_one() {
    let bench = Bench::new().await;
    assert_eq!(reasons(&bench.app).await, ["smtp_missing", "worker_missing"]);
    let lane: JoinHandle<()> = bench.start(Arc::new(Willing));
    until(&bench, &[]).await;
    lane.abort();
    assert!(lane.await.unwrap_err().is_cancelled());
    until(&bench, &["worker_missing"]).await;
    let lane = bench.start(Arc::new(Willing));
    until(&bench, &[]).await;
    bench.clock.advance(Duration::from_secs(45));
    bench.app.maintenance().beat("worker", "another").await;
    assert_eq!(reasons(&bench.app).await.first(), Some(&"smtp_missing"));
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

#[tokio::test]
async fn a_loop_that_does_not_go_on_is_stuck_while_others_do() {
    let (block, is_blocked) = watch::channel(false);
    let bench = Bench::with(|ports| {
        ports.queue = Arc::new(Blocked { queue: ports.queue.clone(), is_blocked });
    })
    .await;
    let tasks = Supervisor::new(bench.app.shutdown().clone());
    start(&bench, &tasks);
    until(&bench, &[]).await;
    block.send(true).unwrap();
    until(&bench, &["worker_stuck"]).await;
    block.send(false).unwrap();
    until(&bench, &[]).await;
    bench.app.shutdown().cancel();
    tasks.wait_for_all().await;
}

#[tokio::test]
async fn jobs_that_are_overdue_by_the_threshold_are_told_until_they_are_done() {
    let bench = Bench::new().await;
    let threshold = bench.app.settings().max_overdue_jobs;
    for number in 1..threshold {
        bench.publish(&number.to_string()).await;
    }
    let alive = async || {
        bench.app.maintenance().beat("smtp", "1").await;
        bench.app.maintenance().beat("worker", "1").await;
    };
    bench.clock.advance(Duration::from_secs(61));
    alive().await;
    assert!(reasons(&bench.app).await.is_empty(), "one less than the threshold");
    bench.publish("the last one").await;
    bench.clock.advance(Duration::from_secs(61));
    alive().await;
    assert_eq!(reasons(&bench.app).await, ["jobs_overdue"]);
    let lane = bench.start(Arc::new(Willing));
    until(&bench, &[]).await;
    bench.app.shutdown().cancel();
    lane.await.unwrap();
}

//! Jobs: delays, leases, order.

use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;

use super::{Harness, fixtures::fresh};
use crate::{Job, Lane, LaneStats, Lease, PortError};

/// Long enough for a job that is due to arrive.
const SOON: Duration = Duration::from_secs(20);
/// Long enough to be told that there is none.
const NOW: Duration = Duration::from_millis(50);
/// Longer than a lease.
const LEASE: Duration = Duration::from_secs(31);

fn job(h: &impl Harness, lane: Lane) -> Job {
    Job { id: fresh(h).to_string(), lane, attempt: 1, body: json!({ "text": "Grüße", "n": [1] }) }
}

async fn published(h: &impl Harness, lane: Lane) -> Job {
    let job = job(h, lane);
    h.ports().queue.publish(&job, None).await.unwrap();
    job
}

async fn delayed(h: &impl Harness, lane: Lane, by: Duration) -> Job {
    let job = job(h, lane);
    h.ports().queue.publish(&job, Some(h.clock().now().after(by))).await.unwrap();
    job
}

async fn take(h: &impl Harness, lane: Lane, max: usize) -> Vec<Lease> {
    h.ports().queue.take(lane, max, SOON).await.unwrap()
}

async fn one(h: &impl Harness, lane: Lane) -> Lease {
    let mut leases = take(h, lane, 1).await;
    assert_eq!(leases.len(), 1, "{}: no job came", h.name());
    leases.remove(0)
}

async fn nothing_due(h: &impl Harness, lane: Lane) {
    let leases = h.ports().queue.take(lane, 10, NOW).await.unwrap();
    assert!(leases.is_empty(), "{}: {leases:?}", h.name());
}

/// A job is taken as it was published, and is gone when finished.
pub async fn publish_take_finish(h: &impl Harness) {
    nothing_due(h, Lane::Mail).await;
    let job = published(h, Lane::Mail).await;
    let lease = one(h, Lane::Mail).await;
    assert_eq!(lease.job, job);
    nothing_due(h, Lane::Mail).await;
    h.ports().queue.finish(lease).await.unwrap();
    h.advance(LEASE).await;
    nothing_due(h, Lane::Mail).await;
}

/// A job with a due time is not taken before it.
pub async fn a_delayed_job_waits(h: &impl Harness) {
    let job = delayed(h, Lane::Webhook, Duration::from_mins(1)).await;
    h.advance(Duration::from_secs(50)).await;
    nothing_due(h, Lane::Webhook).await;
    h.advance(Duration::from_secs(15)).await;
    assert_eq!(one(h, Lane::Webhook).await.job, job);
}

/// A job published twice is stored once, as it was first.
pub async fn the_same_id_is_stored_once(h: &impl Harness) {
    let job = published(h, Lane::Mail).await;
    let again = Job { attempt: 2, ..job.clone() };
    h.ports().queue.publish(&again, None).await.unwrap();
    let lease = one(h, Lane::Mail).await;
    assert_eq!(lease.job, job);
    h.ports().queue.finish(lease).await.unwrap();
    nothing_due(h, Lane::Mail).await;
}

/// A worker sees its own lane only, even where ids are the same.
pub async fn lanes_are_apart(h: &impl Harness) {
    let job = published(h, Lane::Forward).await;
    let other = Job { lane: Lane::Housekeeping, ..job.clone() };
    h.ports().queue.publish(&other, None).await.unwrap();
    nothing_due(h, Lane::Mail).await;
    assert_eq!(one(h, Lane::Housekeeping).await.job, other);
    assert_eq!(one(h, Lane::Forward).await.job, job);
}

/// Jobs come in the order in which they were due, no more than asked for.
pub async fn the_longest_due_comes_first(h: &impl Harness) {
    let mut jobs = Vec::new();
    for seconds in [30, 10, 40, 20] {
        jobs.push((seconds, delayed(h, Lane::Forward, Duration::from_secs(seconds)).await.id));
    }
    jobs.sort_unstable();
    h.advance(Duration::from_mins(1)).await;
    let mut taken = Vec::new();
    while taken.len() < jobs.len() {
        let leases = take(h, Lane::Forward, 3).await;
        assert!((1..=3).contains(&leases.len()));
        taken.extend(leases.into_iter().map(|lease| lease.job.id));
    }
    assert!(taken.iter().eq(jobs.iter().map(|(_, id)| id)), "{}", h.name());
}

/// A lease that ran out gives the job to the next worker.
pub async fn an_expired_lease_is_taken_again(h: &impl Harness) {
    let job = published(h, Lane::Mail).await;
    let lost = one(h, Lane::Mail).await;
    h.advance(Duration::from_secs(25)).await;
    nothing_due(h, Lane::Mail).await;
    h.advance(Duration::from_secs(6)).await;
    assert_eq!(one(h, Lane::Mail).await.job, job);
    drop(lost);
}

/// Extending starts the lease's time anew.
pub async fn an_extended_lease_is_kept(h: &impl Harness) {
    published(h, Lane::Mail).await;
    let lease = one(h, Lane::Mail).await;
    for _ in 0..3 {
        h.advance(Duration::from_secs(20)).await;
        h.ports().queue.extend(&lease).await.unwrap();
    }
    nothing_due(h, Lane::Mail).await;
    h.advance(LEASE).await;
    one(h, Lane::Mail).await;
}

/// A worker whose job went to another is told so, and the other keeps it.
pub async fn a_lost_lease_cannot_be_extended(h: &impl Harness) {
    published(h, Lane::Mail).await;
    let lost = one(h, Lane::Mail).await;
    h.advance(LEASE).await;
    let held = one(h, Lane::Mail).await;
    let answer = h.ports().queue.extend(&lost).await;
    assert!(matches!(answer, Err(PortError::Conflict)), "{}: {answer:?}", h.name());
    h.ports().queue.extend(&held).await.unwrap();
}

/// A retry comes at its time, once, and under the same id as well as under a new one.
pub async fn retry_is_delayed(h: &impl Harness) {
    let first = published(h, Lane::Webhook).await;
    let second = Job { attempt: 2, ..first.clone() };
    let third = Job { attempt: 3, id: fresh(h).to_string(), ..first };
    for next in [second, third] {
        let lease = one(h, Lane::Webhook).await;
        let due = h.clock().now().after(Duration::from_mins(1));
        h.ports().queue.retry(lease, &next, due).await.unwrap();
        h.advance(Duration::from_secs(50)).await;
        nothing_due(h, Lane::Webhook).await;
        h.advance(Duration::from_secs(15)).await;
        let lease = one(h, Lane::Webhook).await;
        assert_eq!(lease.job, next);
        // Back into the queue for the next round.
        h.ports().queue.retry(lease, &next, h.clock().now()).await.unwrap();
    }
    h.ports().queue.finish(one(h, Lane::Webhook).await).await.unwrap();
    h.advance(LEASE).await;
    nothing_due(h, Lane::Webhook).await;
}

/// The counts of a lane.
pub async fn stats_count(h: &impl Harness) {
    let stats = async || h.ports().queue.stats(Lane::Housekeeping).await.unwrap();
    assert_eq!(stats().await, LaneStats::default());
    published(h, Lane::Housekeeping).await;
    published(h, Lane::Housekeeping).await;
    h.advance(Duration::from_mins(2)).await;
    published(h, Lane::Housekeeping).await;
    for hours in 1..=3 {
        delayed(h, Lane::Housekeeping, Duration::from_hours(hours)).await;
    }
    let _held = one(h, Lane::Housekeeping).await;
    let LaneStats { ready, leased, delayed, overdue, oldest_overdue } = stats().await;
    assert_eq!((ready, leased, delayed, overdue), (2, 1, 3, 1), "{}", h.name());
    assert!(oldest_overdue >= Some(Duration::from_mins(2)), "{oldest_overdue:?}");
}

/// A waiting worker gets a job that is published meanwhile, or becomes due.
pub async fn take_waits_for_a_publish(h: &impl Harness) {
    let publish = async {
        tokio::task::yield_now().await;
        published(h, Lane::Received).await
    };
    let (lease, job) = join(one(h, Lane::Received), publish).await;
    assert_eq!(lease.job, job);
    let late = delayed(h, Lane::Received, Duration::from_secs(20)).await;
    let advance = async {
        tokio::task::yield_now().await;
        h.advance(Duration::from_secs(25)).await;
    };
    let (lease, ()) = join(one(h, Lane::Received), advance).await;
    assert_eq!(lease.job, late);
}

/// A worker that finds no job gets an empty answer.
pub async fn take_gives_up(h: &impl Harness) {
    delayed(h, Lane::Received, Duration::from_mins(1)).await;
    nothing_due(h, Lane::Received).await;
    assert!(h.ports().queue.take(Lane::Received, 0, SOON).await.unwrap().is_empty());
}

/// Of several workers each job goes to one.
pub async fn each_job_to_one_worker(h: &impl Harness) {
    let worker = async |_| {
        let mut done = Vec::new();
        loop {
            let leases = h.ports().queue.take(Lane::Mail, 3, 4 * NOW).await.unwrap();
            if leases.is_empty() {
                return done;
            }
            for lease in leases {
                done.push(lease.job.id.clone());
                h.ports().queue.finish(lease).await.unwrap();
            }
        }
    };
    let publish = join_all((0..60).map(async |_| published(h, Lane::Mail).await.id));
    let (done, mut ids) = join(join_all((0..4).map(worker)), publish).await;
    let mut done = done.concat();
    done.sort_unstable();
    ids.sort_unstable();
    assert_eq!(done, ids, "{}", h.name());
}

//! What JetStream's queue does beyond the port's promises, on the server under test.

use std::{
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures_util::{StreamExt as _, future::join_all, stream};
use serde_json::json;
use trapline_cluster::jetstream::{JetStreamError, JetStreamOptions, JetStreamQueue};
use trapline_store::{Clock, Job, Lane, Lease, PortError, Queue as _};

const SOON: Duration = Duration::from_secs(20);
const NOW: Duration = Duration::from_millis(50);
const HOUR: Duration = Duration::from_hours(1);

/// A queue whose stream goes with it.
struct Own {
    queue: JetStreamQueue,
    options: JetStreamOptions,
}

impl Own {
    async fn new(clock: Clock) -> Self {
        let options = JetStreamOptions {
            url: super::common::url(),
            namespace: super::common::namespace(),
            clock,
        };
        JetStreamQueue::migrate(&options).await.unwrap();
        let queue = JetStreamQueue::connect(&options).await.unwrap();
        Self { queue, options }
    }
}

impl Deref for Own {
    type Target = JetStreamQueue;
    fn deref(&self) -> &JetStreamQueue {
        &self.queue
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        super::common::remove(&self.options);
    }
}

fn job(id: &str) -> Job {
    Job { id: id.to_owned(), lane: Lane::Mail, attempt: 1, body: json!({ "to": "Zoë" }) }
}

async fn one(queue: &JetStreamQueue) -> Lease {
    let mut leases = queue.take(Lane::Mail, 1, SOON).await.unwrap();
    leases.pop().unwrap()
}

async fn delayed(queue: &JetStreamQueue) -> u64 {
    queue.stats(Lane::Mail).await.unwrap().delayed
}

async fn stored(own: &Own) -> u64 {
    let client = async_nats::connect(&own.options.url).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let name = format!("{}_JOBS", own.options.namespace.to_uppercase());
    context.get_stream(name).await.unwrap().cached_info().state.messages
}

#[tokio::test]
async fn what_is_no_job_holds_nothing_up() {
    let own = Own::new(Clock::system()).await;
    let client = async_nats::connect(&own.options.url).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let subject = format!("{}.jobs.ready.mail", own.options.namespace);
    let foreign = serde_json::to_vec(&Job { lane: Lane::Webhook, ..job("foreign") }).unwrap();
    for bad in [&b""[..], b"{", b"{\"id\":1}", b"\xff\xfe", &foreign] {
        let sent = context.publish(subject.clone(), bad.to_vec().into()).await.unwrap();
        sent.await.unwrap();
    }
    own.publish(&job("good"), None).await.unwrap();
    let mut leases = own.take(Lane::Mail, 3, SOON).await.unwrap();
    let lease = leases.pop().unwrap();
    assert!(leases.is_empty());
    assert_eq!(lease.job, job("good"));
    own.finish(lease).await.unwrap();
    assert_eq!(stored(&own).await, 0);
}

#[tokio::test]
async fn ids_are_any_text() {
    let own = Own::new(Clock::fast(10)).await;
    let ids = ["a:b", "a.b", "*", ">", " ", "\r\nNats-Msg-Id: x", "ü", &"x".repeat(1024)];
    for id in ids {
        own.publish(&job(id), Some(own.options.clock.now().after(HOUR))).await.unwrap();
    }
    assert_eq!(delayed(&own).await, 8);
    for id in [String::new(), "x".repeat(1025)] {
        let answer = own.publish(&job(&id), None).await;
        assert!(matches!(answer, Err(PortError::Misuse(_))), "{answer:?}");
    }
}

#[tokio::test]
async fn a_delayed_job_published_again_stays_as_it_was() {
    let own = Own::new(Clock::fast(10)).await;
    let now = own.options.clock.now();
    own.publish(&job("a"), Some(now.after(Duration::from_secs(20)))).await.unwrap();
    let again = Job { attempt: 2, ..job("a") };
    own.publish(&again, None).await.unwrap();
    own.publish(&again, Some(now.after(HOUR))).await.unwrap();
    assert_eq!(delayed(&own).await, 1);
    assert_eq!(one(&own).await.job, job("a"));
    assert_eq!(delayed(&own).await, 0);
}

#[tokio::test]
async fn a_retry_repeated_for_one_job_is_stored_once() {
    let own = Own::new(Clock::fast(10)).await;
    own.publish(&job("a"), None).await.unwrap();
    let lost = one(&own).await;
    let held = one(&own).await;
    let due = own.options.clock.now().after(HOUR);
    own.retry(lost, &Job { attempt: 2, ..job("a") }, due).await.unwrap();
    own.retry(held, &Job { attempt: 2, ..job("another id") }, due).await.unwrap();
    assert_eq!(delayed(&own).await, 1);
    assert!(own.take(Lane::Mail, 1, NOW).await.unwrap().is_empty());
    assert_eq!(stored(&own).await, 1);
}

#[tokio::test]
async fn a_take_that_is_given_up_takes_nothing() {
    let own = Own::new(Clock::system()).await;
    let waiting = tokio::time::timeout(NOW, own.take(Lane::Mail, 5, SOON)).await;
    assert!(waiting.is_err());
    own.publish(&job("a"), None).await.unwrap();
    assert_eq!(one(&own).await.job, job("a"));
}

#[tokio::test]
async fn a_take_leaves_later_jobs_to_others() {
    let own = Own::new(Clock::system()).await;
    for id in 0..20 {
        own.publish(&job(&id.to_string()), None).await.unwrap();
        let leases = own.take(Lane::Mail, 50, SOON).await.unwrap();
        assert_eq!(leases.len(), 1);
    }
}

#[tokio::test]
async fn a_foreign_lease_is_refused() {
    let own = Own::new(Clock::system()).await;
    let foreign = || Lease { job: job("a"), token: Box::new(1) };
    let now = own.options.clock.now();
    for answer in [
        own.finish(foreign()).await,
        own.extend(&foreign()).await,
        own.retry(foreign(), &job("a"), now).await,
    ] {
        assert!(matches!(answer, Err(PortError::Misuse(_))), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_jobs_are_each_done_once() {
    const JOBS: usize = 10_000;
    let own = Own::new(Clock::system()).await;
    let finished = AtomicUsize::new(0);
    let publish = stream::iter(0..JOBS)
        .map(async |id| own.publish(&job(&id.to_string()), None).await.unwrap())
        .buffer_unordered(256)
        .collect::<Vec<_>>();
    let worker = async |_| {
        let mut done = Vec::new();
        while finished.load(Ordering::SeqCst) < JOBS {
            let leases = own.take(Lane::Mail, 64, 4 * NOW).await.unwrap();
            done.extend(leases.iter().map(|lease| lease.job.id.parse::<usize>().unwrap()));
            join_all(leases.into_iter().map(async |lease| {
                own.finish(lease).await.unwrap();
                finished.fetch_add(1, Ordering::SeqCst);
            }))
            .await;
        }
        done
    };
    let (_, done) = tokio::join!(publish, join_all((0..4).map(worker)));
    let mut done = done.concat();
    done.sort_unstable();
    assert!(done.into_iter().eq(0..JOBS));
    assert_eq!(stored(&own).await, 0);
}

#[tokio::test]
async fn setting_up_may_be_repeated_and_run_at_once() {
    let own = Own::new(Clock::system()).await;
    own.publish(&job("a"), None).await.unwrap();
    let migrations = (0..4).map(|_| JetStreamQueue::migrate(&own.options));
    for done in join_all(migrations).await {
        done.unwrap();
    }
    assert_eq!(one(&own).await.job, job("a"));
    own.ping().await.unwrap();
}

#[tokio::test]
async fn several_processes_set_up_a_new_stream_at_once() {
    let options = JetStreamOptions {
        url: super::common::url(),
        namespace: super::common::namespace(),
        clock: Clock::system(),
    };
    let done = join_all((0..4).map(|_| JetStreamQueue::migrate(&options))).await;
    let found = JetStreamQueue::connect(&options).await;
    super::common::remove(&options);
    found.unwrap();
    for done in done {
        done.unwrap();
    }
}

#[tokio::test]
async fn a_stream_that_is_not_set_up_is_refused() {
    let options = JetStreamOptions {
        url: super::common::url(),
        namespace: super::common::namespace(),
        clock: Clock::system(),
    };
    let error = JetStreamQueue::connect(&options).await.err().unwrap();
    assert!(matches!(error, JetStreamError::NotMigrated { .. }), "{error}");
    assert!(error.to_string().contains("trapline migrate"), "{error}");
    let options = JetStreamOptions { namespace: "Not A Word".to_owned(), ..options };
    let error = JetStreamQueue::connect(&options).await.err().unwrap();
    assert!(matches!(error, JetStreamError::Namespace), "{error}");
}

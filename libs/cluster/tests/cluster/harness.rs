//! Every adapter under the conformance suite.

use std::{sync::Arc, time::Duration};

use trapline_cluster::{
    jetstream::{JetStreamOptions, JetStreamQueue},
    redis::{Redis, RedisOptions},
    s3::{ClusterIntake, SegmentOptions, Segments},
};
use trapline_store::{Clock, JobDelivery, Ports, Processes, Store, conformance::Harness};

use crate::{cql::support, nats::common};

/// How many times as fast as the servers' the tests' clock runs.
const FACTOR: u32 = 10;

/// One keyspace for all tests, whose rows have ids of their own; a stream and Redis keys for each, as
/// lanes have none.
pub(crate) struct ClusterHarness {
    ports: Ports,
    queue: JetStreamOptions,
}

impl ClusterHarness {
    pub(crate) async fn new() -> Self {
        let clock = Clock::fast(FACTOR);
        let namespace = common::namespace();
        let store = Arc::new(support::store(clock.clone()).await);
        let segments = Arc::new(Segments::open(&segments()).unwrap());
        let options = JetStreamOptions {
            url: common::url(),
            namespace: namespace.clone(),
            clock: clock.clone(),
        };
        JetStreamQueue::migrate(&options).await.unwrap();
        let queue = Arc::new(JetStreamQueue::connect(&options).await.unwrap());
        let url = std::env::var("TRAPLINE_TEST_REDIS").expect("TRAPLINE_TEST_REDIS is not set");
        let redis = Redis::connect(&RedisOptions { url, namespace, clock }).await.unwrap();
        let ports = Ports {
            store: store.clone(),
            queue: queue.clone(),
            bus: redis.bus(),
            limiter: redis.limiter(),
            cache: redis.cache(),
            intake: Arc::new(ClusterIntake::new(segments.clone(), store, queue)),
            blobs: segments,
            job_delivery: JobDelivery::ThroughOutbox,
            processes: Processes::Many,
        };
        Self { ports, queue: options }
    }
}

/// A folder of the bucket for tests of this kind; their segments have names of their own.
fn segments() -> SegmentOptions {
    let url = std::env::var("TRAPLINE_TEST_S3").expect("TRAPLINE_TEST_S3 is not set");
    let (bucket, query) = url.split_once('?').unwrap_or((&url, ""));
    SegmentOptions { url: format!("{bucket}/conformance?{query}") }
}

impl Drop for ClusterHarness {
    fn drop(&mut self) {
        common::remove(&self.queue);
    }
}

impl Harness for ClusterHarness {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn name(&self) -> &'static str {
        "cluster"
    }

    fn clock(&self) -> &Clock {
        &self.queue.clock
    }

    async fn store_of(&self, clock: Clock) -> Arc<dyn Store> {
        Arc::new(support::store(clock).await)
    }

    async fn advance(&self, by: Duration) {
        tokio::time::sleep(self.queue.clock.real(by)).await;
    }
}

//! Stores and queues that stand before real ones. A test says what they do otherwise; everything else
//! goes through.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_model::Time;
use trapline_store::{
    Job, JobDelivery, Key, Lane, LaneStats, Lease, Op, Ports, Processes, Queue, Result, Row, Scan,
    Store, Table, Value,
};

/// What a store does otherwise than the one behind it.
#[async_trait]
pub(crate) trait StoreLayer: Send + Sync {
    fn inner(&self) -> &dyn Store;

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.inner().get(key).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.inner().scan(scan).await
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.inner().write(ops).await
    }

    async fn time(&self) -> Result<Option<Time>> {
        self.inner().time().await
    }
}

/// A store with a layer before it. Its narrowed scans are those of the layer, and leave out nothing.
pub(crate) struct LayeredStore<L>(pub(crate) L);

#[async_trait]
impl<L: StoreLayer> Store for LayeredStore<L> {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.0.inner().prepare(tables).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.0.get(key).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.0.scan(scan).await
    }

    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        self.0.inner().partitions(table).await
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.0.write(ops).await
    }

    async fn ping(&self) -> Result<()> {
        self.0.inner().ping().await
    }

    async fn time(&self) -> Result<Option<Time>> {
        self.0.time().await
    }

    async fn room(&self) -> Result<()> {
        self.0.inner().room().await
    }
}

/// Has the application take these ports for those of a cluster: jobs go through the outbox, and other
/// processes may store something too.
pub(crate) fn as_in_a_cluster(ports: &mut Ports) {
    ports.job_delivery = JobDelivery::ThroughOutbox;
    ports.processes = Processes::Many;
}

/// What becomes of jobs that are published to a queue with an outbox behind it.
#[async_trait]
pub(crate) trait Publisher: Send + Sync {
    /// Publishes a job to the queue behind, or does otherwise with it.
    async fn publish(&self, queue: &dyn Queue, job: &Job, due: Option<Time>) -> Result<()>;
}

/// A queue that may lose jobs, as its publisher decides.
struct Volatile<P> {
    queue: Arc<dyn Queue>,
    publisher: P,
}

/// Puts a publisher before the queue, with the outbox behind it, as in a cluster.
pub(crate) fn publish_through(ports: &mut Ports, publisher: impl Publisher + 'static) {
    as_in_a_cluster(ports);
    ports.queue = Arc::new(Volatile { queue: ports.queue.clone(), publisher });
}

#[async_trait]
impl<P: Publisher> Queue for Volatile<P> {
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        self.publisher.publish(&*self.queue, job, due).await
    }

    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
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

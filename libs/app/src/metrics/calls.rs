//! How long what stands behind the application takes to answer, by operation.

use std::{ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use metrics::{Histogram, Unit, describe_histogram, histogram};
use tokio::time::Instant;
use trapline_model::{InboxId, Time};
use trapline_store::{
    BlobRef, Blobs, Bus, Job, Key, Lane, LaneStats, Lease, LiveEvent, Narrowed, Op, Ports, Queue,
    Result, Row, Scan, SignalStream, Store, Table, Tail, Value, WalkPlace, Walked,
};

const SECONDS: &str = "trapline_backend_call_seconds";

pub(super) fn describe() {
    describe_histogram!(
        SECONDS,
        Unit::Seconds,
        "Calls of the store, the queue, the bus and the bytes, by backend and operation."
    );
}

/// The same ports, with their calls measured.
pub(crate) fn measured(ports: Ports) -> Ports {
    let of = |backend| move |operation| Calls::of(backend, operation);
    let (store, queue, bus, blobs) = (of("store"), of("queue"), of("bus"), of("blobs"));
    Ports {
        store: Arc::new(MeasuredStore {
            store: ports.store,
            gets: store("get"),
            scans: store("scan"),
            writes: store("write"),
        }),
        queue: Arc::new(MeasuredQueue {
            queue: ports.queue,
            publishes: queue("publish"),
            finishes: queue("finish"),
            retries: queue("retry"),
            extensions: queue("extend"),
            stats: queue("stats"),
        }),
        bus: Arc::new(MeasuredBus {
            bus: ports.bus,
            publishes: bus("publish"),
            subscribes: bus("subscribe"),
        }),
        blobs: Arc::new(MeasuredBlobs {
            blobs: ports.blobs,
            reads: blobs("read"),
            removes: blobs("remove"),
        }),
        ..ports
    }
}

/// The times of one operation.
struct Calls(Histogram);

impl Calls {
    fn of(backend: &'static str, operation: &'static str) -> Self {
        Self(histogram!(SECONDS, "backend" => backend, "operation" => operation))
    }

    async fn time<T>(&self, call: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let answer = call.await;
        self.0.record(began.elapsed().as_secs_f64());
        answer
    }
}

struct MeasuredStore {
    store: Arc<dyn Store>,
    gets: Calls,
    scans: Calls,
    writes: Calls,
}

#[async_trait]
impl Store for MeasuredStore {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.store.prepare(tables).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.gets.time(self.store.get(key)).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.scans.time(self.store.scan(scan)).await
    }

    async fn narrow(&self, scan: Scan, texts: Vec<String>, most: usize) -> Result<Narrowed> {
        self.scans.time(self.store.narrow(scan, texts, most)).await
    }

    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        self.store.partitions(table).await
    }

    async fn walk(
        &self,
        table: &'static Table,
        after: Option<WalkPlace>,
        limit: usize,
    ) -> Result<Walked> {
        self.store.walk(table, after, limit).await
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.writes.time(self.store.write(ops)).await
    }

    async fn ping(&self) -> Result<()> {
        self.store.ping().await
    }

    async fn time(&self) -> Result<Option<Time>> {
        self.store.time().await
    }

    async fn room(&self) -> Result<()> {
        self.store.room().await
    }
}

struct MeasuredQueue {
    queue: Arc<dyn Queue>,
    publishes: Calls,
    finishes: Calls,
    retries: Calls,
    extensions: Calls,
    stats: Calls,
}

#[async_trait]
impl Queue for MeasuredQueue {
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        self.publishes.time(self.queue.publish(job, due)).await
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> Result<()> {
        self.publishes.time(self.queue.publish_with(rows, jobs)).await
    }

    /// It lasts as long as there is no job.
    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        self.queue.take(lane, max, wait).await
    }

    async fn finish(&self, lease: Lease) -> Result<()> {
        self.finishes.time(self.queue.finish(lease)).await
    }

    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()> {
        self.retries.time(self.queue.retry(lease, next, due)).await
    }

    async fn extend(&self, lease: &Lease) -> Result<()> {
        self.extensions.time(self.queue.extend(lease)).await
    }

    async fn stats(&self, lane: Lane) -> Result<LaneStats> {
        self.stats.time(self.queue.stats(lane)).await
    }
}

struct MeasuredBus {
    bus: Arc<dyn Bus>,
    publishes: Calls,
    subscribes: Calls,
}

#[async_trait]
impl Bus for MeasuredBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        self.publishes.time(self.bus.publish(inbox, event)).await
    }

    fn left_out(&self, inbox: InboxId) {
        self.bus.left_out(inbox);
    }

    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        self.subscribes.time(self.bus.subscribe(inbox)).await
    }

    fn given_up(&self) -> u64 {
        self.bus.given_up()
    }
}

struct MeasuredBlobs {
    blobs: Arc<dyn Blobs>,
    reads: Calls,
    removes: Calls,
}

#[async_trait]
impl Blobs for MeasuredBlobs {
    async fn read(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<Bytes> {
        self.reads.time(self.blobs.read(blob, part)).await
    }

    async fn tail(&self, segment: &str, at_most: u64) -> Result<Option<Tail>> {
        self.reads.time(self.blobs.tail(segment, at_most)).await
    }

    async fn segment(&self, segment: &str) -> Result<Option<Bytes>> {
        self.reads.time(self.blobs.segment(segment)).await
    }

    async fn remove(&self, segment: &str) -> Result<()> {
        self.removes.time(self.blobs.remove(segment)).await
    }
}

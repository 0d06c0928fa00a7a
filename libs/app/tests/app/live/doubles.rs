//! Ports that tell what is asked of them, or do not answer.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;
use trapline_model::InboxId;
use trapline_store::{
    BlobRef, Blobs, Bus, Key, LiveEvent, Op, Ports, Result, Row, Scan, SignalStream, Store, Table,
    Tail,
};

/// Tells when somebody is subscribed.
#[derive(Clone)]
pub(super) struct Told(Arc<Semaphore>);

impl Default for Told {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

struct WatchedBus(Arc<dyn Bus>, Told);

impl Told {
    pub(super) fn watch(&self, ports: &mut Ports) {
        ports.bus = Arc::new(WatchedBus(ports.bus.clone(), self.clone()));
    }

    /// Waits for a subscription to an inbox.
    pub(super) async fn subscribed(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

#[async_trait]
impl Bus for WatchedBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        self.0.publish(inbox, event).await
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        let signals = self.0.subscribe(inbox).await?;
        // The nil id is what every process follows.
        self.1.0.add_permits(usize::from(!inbox.0.is_nil()));
        Ok(signals)
    }
}

/// Blobs whose reads do not end.
pub(super) struct Silent;

impl Silent {
    pub(super) fn replace(ports: &mut Ports) {
        ports.blobs = Arc::new(Self);
    }
}

#[async_trait]
impl Blobs for Silent {
    async fn read(&self, _: &BlobRef, _: Option<std::ops::Range<u64>>) -> Result<Bytes> {
        std::future::pending().await
    }
    async fn tail(&self, _: &str, _: u64) -> Result<Option<Tail>> {
        std::future::pending().await
    }
    async fn segment(&self, _: &str) -> Result<Option<Bytes>> {
        std::future::pending().await
    }
    async fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

/// Counts the documents that scans bring, and the most that one of them brought.
#[derive(Clone, Default)]
pub(super) struct Reads {
    pub(super) all: Arc<AtomicUsize>,
    pub(super) most: Arc<AtomicUsize>,
}

struct CountedStore(Arc<dyn Store>, Reads);

impl Reads {
    pub(super) fn count(&self, ports: &mut Ports) {
        ports.store = Arc::new(CountedStore(ports.store.clone(), self.clone()));
    }
}

#[async_trait]
impl Store for CountedStore {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.0.prepare(tables).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.0.get(key).await
    }
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let is_counted = scan.table.name == "message" && !scan.keys_only;
        let rows = self.0.scan(scan).await?;
        if is_counted {
            self.1.all.fetch_add(rows.len(), Ordering::Relaxed);
            self.1.most.fetch_max(rows.len(), Ordering::Relaxed);
        }
        Ok(rows)
    }
    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.0.write(ops).await
    }
    async fn ping(&self) -> Result<()> {
        self.0.ping().await
    }
}

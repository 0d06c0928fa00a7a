//! Ports that tell what is asked of them, or do not answer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;
use trapline_model::InboxId;
use trapline_store::{
    BlobRef, Blobs, Bus, Key, LiveEvent, PortError, Ports, Result, Row, Scan, SignalStream, Store,
    Tail,
};

use crate::doubles::{LayeredStore, StoreLayer};

/// Tells when somebody is subscribed.
#[derive(Clone)]
pub(super) struct SubscriptionWatch(Arc<Semaphore>);

impl Default for SubscriptionWatch {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

struct WatchedBus(Arc<dyn Bus>, SubscriptionWatch);

impl SubscriptionWatch {
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
    fn given_up(&self) -> u64 {
        self.0.given_up()
    }
}

/// A bus on which announcements carry no row, as older processes send them.
pub(super) struct Bare(Arc<dyn Bus>);

impl Bare {
    pub(super) fn replace(ports: &mut Ports) {
        ports.bus = Arc::new(Self(ports.bus.clone()));
    }
}

#[async_trait]
impl Bus for Bare {
    async fn publish(&self, inbox: InboxId, mut event: LiveEvent) -> Result<()> {
        if let LiveEvent::MessageCreated { record, .. } = &mut event {
            *record = None;
        }
        self.0.publish(inbox, event).await
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        self.0.subscribe(inbox).await
    }
}

/// A bus that loses the announcements of messages, as that of a process does which is killed before it
/// sends them; or that says so.
#[derive(Clone, Default)]
pub(super) struct Lossy {
    pub(super) given_up: Arc<AtomicU64>,
}

struct LossyBus(Arc<dyn Bus>, Lossy);

impl Lossy {
    pub(super) fn replace(&self, ports: &mut Ports) {
        ports.bus = Arc::new(LossyBus(ports.bus.clone(), self.clone()));
    }
}

#[async_trait]
impl Bus for LossyBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        if matches!(event, LiveEvent::MessageCreated { .. }) {
            return Ok(());
        }
        self.0.publish(inbox, event).await
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        self.0.subscribe(inbox).await
    }
    fn given_up(&self) -> u64 {
        self.1.given_up.load(Ordering::SeqCst)
    }
}

/// A bus on which announcements of messages wait until they are let go.
#[derive(Clone)]
pub(super) struct Delayed(Arc<Semaphore>);

struct DelayedBus(Arc<dyn Bus>, Delayed);

impl Default for Delayed {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Delayed {
    pub(super) fn replace(&self, ports: &mut Ports) {
        ports.bus = Arc::new(DelayedBus(ports.bus.clone(), self.clone()));
    }

    pub(super) fn let_go(&self) {
        self.0.add_permits(1);
    }
}

#[async_trait]
impl Bus for DelayedBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        if matches!(event, LiveEvent::MessageCreated { .. }) {
            self.1.0.acquire().await.unwrap().forget();
        }
        self.0.publish(inbox, event).await
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        self.0.subscribe(inbox).await
    }
}

/// A bus whose subscriptions to inboxes are active before it says so.
#[derive(Clone)]
pub(super) struct Gate {
    reached: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { reached: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }
}

struct GatedBus(Arc<dyn Bus>, Gate);

impl Gate {
    pub(super) fn hold(&self, ports: &mut Ports) {
        ports.bus = Arc::new(GatedBus(ports.bus.clone(), self.clone()));
    }

    /// Waits until a subscription is active.
    pub(super) async fn reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    /// Lets one subscription go on.
    pub(super) fn open(&self) {
        self.open.add_permits(1);
    }
}

#[async_trait]
impl Bus for GatedBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        self.0.publish(inbox, event).await
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        let signals = self.0.subscribe(inbox).await?;
        if !inbox.0.is_nil() {
            self.1.reached.add_permits(1);
            self.1.open.acquire().await.unwrap().forget();
        }
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

/// Counts reads, the documents that scans of messages bring, and the most that one of them brought.
#[derive(Clone, Default)]
pub(super) struct Reads {
    pub(super) asked: Arc<AtomicUsize>,
    /// Scans for heartbeats.
    pub(super) watches: Arc<AtomicUsize>,
    /// So many of the next gets fail.
    pub(super) failing: Arc<AtomicUsize>,
    pub(super) all: Arc<AtomicUsize>,
    pub(super) most: Arc<AtomicUsize>,
}

struct CountedStore(Arc<dyn Store>, Reads);

impl Reads {
    pub(super) fn count(&self, ports: &mut Ports) {
        ports.store = Arc::new(LayeredStore(CountedStore(ports.store.clone(), self.clone())));
    }

    /// Reads so far.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl StoreLayer for CountedStore {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.1.asked.fetch_add(1, Ordering::SeqCst);
        let failing = &self.1.failing;
        if failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_ok()
        {
            return Err(PortError::Timeout);
        }
        self.0.get(key).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.1.asked.fetch_add(1, Ordering::SeqCst);
        if scan.table.name == "heartbeat" {
            self.1.watches.fetch_add(1, Ordering::SeqCst);
        }
        let is_counted = scan.table.name == "message" && !scan.keys_only;
        let rows = self.0.scan(scan).await?;
        if is_counted {
            self.1.all.fetch_add(rows.len(), Ordering::Relaxed);
            self.1.most.fetch_max(rows.len(), Ordering::Relaxed);
        }
        Ok(rows)
    }
}

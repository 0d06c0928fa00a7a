//! Mail while the cache and the bus do not answer, or the store does not for a while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::join_all;
use tokio::{sync::watch, time::timeout};
use trapline_app::{App, Incoming};
use trapline_model::{Envelope, Inbox, InboxId, MessageId};
use trapline_store::{
    Bus, Cache, Key, LiveEvent, PortError, Result, Row, Scan, SignalStream, Store, records::Message,
};

use crate::{
    doubles::{LayeredStore, StoreLayer, as_in_a_cluster},
    support::Bench,
};

/// Far longer than what must not wait takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A Redis that takes everything and answers nothing, until it is told to.
#[derive(Clone)]
struct Stopped {
    cache: Arc<dyn Cache>,
    bus: Arc<dyn Bus>,
    goes_on: watch::Sender<bool>,
    published: Arc<AtomicUsize>,
    left_out: Arc<AtomicUsize>,
}

impl Stopped {
    async fn answer(&self) {
        self.goes_on.subscribe().wait_for(|goes_on| *goes_on).await.unwrap();
    }
}

#[async_trait]
impl Cache for Stopped {
    async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<Bytes>>> {
        self.cache.get_many(keys).await
    }
    async fn put(&self, key: &str, value: Bytes, ttl: Duration) -> Result<()> {
        self.cache.put(key, value, ttl).await
    }
    async fn bump(&self, key: &str) -> Result<u64> {
        self.answer().await;
        self.cache.bump(key).await
    }
    async fn versions(&self, keys: &[String]) -> Result<Vec<u64>> {
        self.cache.versions(keys).await
    }
}

#[async_trait]
impl Bus for Stopped {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        self.answer().await;
        self.published.fetch_add(1, Ordering::SeqCst);
        self.bus.publish(inbox, event).await
    }
    fn left_out(&self, _: InboxId) {
        self.left_out.fetch_add(1, Ordering::SeqCst);
    }
    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        self.bus.subscribe(inbox).await
    }
}

/// A process whose cache and bus stop to answer when it is told so.
async fn bench() -> (Bench, Stopped) {
    let mut stopped = None;
    let bench = Bench::with(|ports| {
        let double = Stopped {
            cache: ports.cache.clone(),
            bus: ports.bus.clone(),
            goes_on: watch::Sender::new(true),
            published: Arc::default(),
            left_out: Arc::default(),
        };
        ports.cache = Arc::new(double.clone());
        ports.bus = Arc::new(double.clone());
        stopped = Some(double);
    });
    (bench.await, stopped.unwrap())
}

async fn send(app: &App, inbox: &Inbox, number: usize) -> MessageId {
    let login =
        app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap().unwrap();
    let envelope = Envelope { from: "a@example.com".to_owned(), to: Vec::new() };
    let raw = format!("Subject: {number}\r\n\r\n").into();
    app.receive().deliver(Incoming { targets: vec![login], envelope, raw }).await.unwrap()[0]
}

#[tokio::test]
async fn mail_is_answered_while_nobody_can_be_told_and_no_count_stays_old() {
    let (bench, stopped) = bench().await;
    let inbox = bench.inbox(100, None).await;
    send(&bench.app, &inbox, 0).await;
    let other = bench.process_by(&bench.clock).await;
    let count =
        async |app: &Arc<App>| app.inboxes().get(&bench.by, inbox.id).await.unwrap().message_count;
    assert_eq!((count(&bench.app).await, count(&other).await), (1, 1));
    stopped.goes_on.send_replace(false);
    let sent = async {
        for number in 1..=20 {
            send(&bench.app, &inbox, number).await;
        }
    };
    timeout(PATIENCE, sent).await.expect("mail waits for the cache or the bus");
    assert_eq!(count(&bench.app).await, 21);
    stopped.goes_on.send_replace(true);
    let told = async {
        while count(&other).await != 21 || stopped.published.load(Ordering::SeqCst) < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, told).await.expect("the other process reads an old count for ever");
    assert_eq!(stopped.left_out.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn events_that_wait_for_the_bus_are_bounded_and_the_others_listeners_told_of_a_gap() {
    let (bench, stopped) = bench().await;
    let inboxes = [bench.inbox(10_000, None).await, bench.inbox(10_000, None).await];
    stopped.goes_on.send_replace(false);
    let burst =
        async |inbox| join_all((0..1_600).map(|number| send(&bench.app, inbox, number))).await;
    for inbox in &inboxes {
        timeout(PATIENCE, burst(inbox)).await.expect("mail waits for the bus");
    }
    stopped.goes_on.send_replace(true);
    send(&bench.app, &inboxes[0], 0).await;
    let left_out = stopped.left_out.load(Ordering::SeqCst);
    assert!(left_out > 0, "every event is kept");
}

/// A store whose keys of messages cannot be read while it is told so.
struct Unread {
    store: Arc<dyn Store>,
    is_away: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl StoreLayer for Unread {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let keys = scan.keys_only && scan.table == Message::TABLE;
        if keys && self.is_away.load(Ordering::SeqCst) {
            self.asked.fetch_add(1, Ordering::SeqCst);
            return Err(PortError::Timeout);
        }
        self.store.scan(scan).await
    }
}

async fn rows(bench: &Bench, inbox: &Inbox) -> usize {
    let Key { table, partition, .. } = Message::all(inbox.id);
    let all = Scan { table, partition, after: None, until: None, limit: 10_000, keys_only: true };
    bench.ports.store.scan(all).await.unwrap().len()
}

#[tokio::test]
async fn a_trim_that_failed_is_tried_again_without_another_mail() {
    let (is_away, asked) = (Arc::new(AtomicBool::new(false)), Arc::<AtomicUsize>::default());
    let bench = Bench::with(|ports| {
        let (is_away, asked) = (is_away.clone(), asked.clone());
        ports.store = Arc::new(LayeredStore(Unread { store: ports.store.clone(), is_away, asked }));
    });
    let bench = bench.await;
    let inbox = bench.inbox(2, None).await;
    is_away.store(true, Ordering::SeqCst);
    join_all((0..5).map(|number| send(&bench.app, &inbox, number))).await;
    let trimmed = async {
        while asked.load(Ordering::SeqCst) < 2 {
            bench.clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        is_away.store(false, Ordering::SeqCst);
        while rows(&bench, &inbox).await > 2 {
            bench.clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, trimmed).await.expect("the trim waits for the next mail");
}

#[tokio::test]
async fn several_processes_keep_no_multiple_of_the_bound() {
    let bench = Bench::with(as_in_a_cluster).await;
    let other = bench.process_by(&bench.clock).await;
    let inbox = bench.inbox(64, None).await;
    for app in [&bench.app, &other] {
        send(app, &inbox, 0).await;
    }
    // Each knows of its own, which is fewer than the bound.
    for app in [&bench.app, &other] {
        for number in 0..60 {
            send(app, &inbox, number).await;
        }
    }
    let trimmed = async {
        while rows(&bench, &inbox).await > 64 + 2 * 16 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, trimmed).await.expect("each process keeps as many as it counts itself");
}

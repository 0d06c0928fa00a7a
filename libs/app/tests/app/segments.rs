//! Segments cost little while nothing dies, and are reviewed soon when something does.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use trapline_model::Inbox;
use trapline_store::{BlobRef, Blobs, Result, Tail, records::Message};

use crate::{support::Bench, watched::Watch};

const HOUR: Duration = Duration::from_hours(1);

/// Counts the looks at segments' ends, and the reads of whole segments.
#[derive(Clone, Default)]
struct Looks(Arc<(AtomicUsize, AtomicUsize)>);

impl Looks {
    fn take(&self) -> (usize, usize) {
        (self.0.0.swap(0, Ordering::Relaxed), self.0.1.swap(0, Ordering::Relaxed))
    }
}

struct Counted(Arc<dyn Blobs>, Looks);

#[async_trait]
impl Blobs for Counted {
    async fn read(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<Bytes> {
        self.0.read(blob, part).await
    }
    async fn tail(&self, segment: &str, at_most: u64) -> Result<Option<Tail>> {
        self.1.0.0.fetch_add(1, Ordering::Relaxed);
        self.0.tail(segment, at_most).await
    }
    async fn segment(&self, segment: &str) -> Result<Option<Bytes>> {
        self.1.0.1.fetch_add(1, Ordering::Relaxed);
        self.0.segment(segment).await
    }
    async fn remove(&self, segment: &str) -> Result<()> {
        self.0.remove(segment).await
    }
}

async fn watched() -> (Bench, Watch, Looks) {
    let (watch, looks) = (Watch::default(), Looks::default());
    let bench = Bench::with(|ports| {
        watch.over(ports);
        ports.blobs = Arc::new(Counted(ports.blobs.clone(), looks.clone()));
    })
    .await;
    (bench, watch, looks)
}

async fn hours(bench: &Bench, hours: u32) {
    for _ in 0..hours {
        bench.clock.advance(HOUR);
        bench.app.maintenance().run_due().await.unwrap();
    }
}

/// How many reviews of segments are planned because something in them was removed.
fn reviews(watch: &Watch) -> usize {
    let tasks = watch.queued("maintenance_task");
    tasks.iter().filter(|(_, doc)| doc.contains("review_segment")).count()
}

#[tokio::test]
async fn what_is_kept_is_looked_at_less_and_less_and_what_dies_is_gone_in_a_day() {
    let (bench, watch, looks) = watched().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "kept").await;
    let row = bench.ports.store.get(&Message::row(id)).await.unwrap().unwrap();
    let segment = Message::of(&row).unwrap().blob.segment;
    hours(&bench, 40).await;
    // After 1, 3, 7, 15 and 31 hours.
    assert_eq!(looks.take(), (5, 0));
    bench.app.messages().delete(&bench.by, id).await.unwrap();
    assert_eq!(reviews(&watch), 1);
    hours(&bench, 13).await;
    assert_eq!(bench.ports.blobs.segment(&segment).await.unwrap(), None);
    // The regular check finds nothing to come back for.
    hours(&bench, 12).await;
    assert_eq!(watch.queued("maintenance_task"), []);
}

#[tokio::test]
async fn every_way_of_removing_messages_tells_of_their_segments() {
    let (bench, watch, _) = watched().await;
    let mut inboxes = Vec::new();
    for _ in 0..4 {
        let inbox = bench.inbox(2, None).await;
        bench.deliver(&inbox, "one").await;
        bench.deliver(&inbox, "two").await;
        inboxes.push(inbox);
    }
    let [emptied, deleted, trimmed, shrunk] = &inboxes[..] else { panic!("four") };
    // Young segments are checked soon in any case.
    bench.app.messages().empty(&bench.by, bench.inbox(2, None).await.id).await.unwrap();
    assert_eq!(reviews(&watch), 0);
    hours(&bench, 2).await;
    bench.app.messages().empty(&bench.by, emptied.id).await.unwrap();
    assert_eq!(reviews(&watch), 2);
    bench.app.messages().empty(&bench.by, emptied.id).await.unwrap();
    assert_eq!(reviews(&watch), 2);
    bench.app.inboxes().delete(&bench.by, deleted.id).await.unwrap();
    bench.clock.advance(Duration::from_secs(11));
    let lane = trapline_store::Lane::Housekeeping;
    let purge = bench.app.jobs().take(lane, 1, Duration::ZERO).await.unwrap().remove(0);
    bench.app.maintenance().housekeep(&purge.job).await.unwrap();
    assert_eq!(reviews(&watch), 4);
    bench.deliver(trimmed, "three").await;
    until(&watch, 5).await;
    let less = trapline_app::InboxChange { max_messages: Some(1), ..<_>::default() };
    bench.app.inboxes().update(&bench.by, shrunk.id, less).await.unwrap();
    until(&watch, 6).await;
}

async fn until(watch: &Watch, count: usize) {
    let seen = async {
        while reviews(watch) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), seen).await.expect("the trim tells");
    assert_eq!(reviews(watch), count);
}

/// Each of the segments has its check in that time; an idle server must not write for each.
#[tokio::test]
async fn checks_of_what_is_kept_share_their_writes() {
    let (bench, watch, looks) = watched().await;
    let inbox: Inbox = bench.inbox(100, None).await;
    for number in 0..100 {
        bench.deliver(&inbox, &format!("number {number}")).await;
        bench.clock.advance(Duration::from_secs(10));
    }
    let janitor = bench.start_janitor();
    bench.clock.advance(HOUR / 2);
    tokio::time::sleep(Duration::from_millis(50)).await;
    watch.writes();
    looks.take();
    for _ in 0..180 {
        bench.clock.advance(Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.app.shutdown().cancel();
    janitor.await.unwrap();
    let (seen, writes) = (looks.take().0, watch.writes());
    assert!(seen >= 90, "{seen} checks");
    assert!(writes <= 60, "{writes} writes in an hour");
}

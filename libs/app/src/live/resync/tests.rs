#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicUsize;

use async_trait::async_trait;
use tokio::time::Instant;
use trapline_model::{MessageId, TeamId};
use trapline_store::{Key, Op, PortError, Result, Row, Table};

use super::*;

/// An inbox's ids for any inbox, and what was asked.
#[derive(Default)]
struct Rows {
    ids: Vec<Uuid>,
    scans: Mutex<Vec<(Instant, Scan)>>,
    running: AtomicUsize,
    most: AtomicUsize,
    failing: AtomicUsize,
}

#[async_trait]
impl Store for Rows {
    async fn prepare(&self, _: &[&'static Table]) -> Result<()> {
        Ok(())
    }
    async fn get(&self, _: &Key) -> Result<Option<Row>> {
        Ok(None)
    }
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let limit = scan.limit;
        self.scans.lock().unwrap().push((Instant::now(), scan));
        self.most.fetch_max(self.running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        let (order, less) = (Ordering::SeqCst, |left: usize| left.checked_sub(1));
        if self.failing.fetch_update(order, order, less).is_ok() {
            return Err(PortError::Timeout);
        }
        let row = |id: &Uuid| Row {
            sort: Message::row(MessageId { inbox: InboxId(Uuid::nil()), uuid: *id }).sort,
            doc: String::new(),
            version: 0,
        };
        Ok(self.ids.iter().take(limit).map(row).collect())
    }
    async fn write(&self, _: Vec<Op>) -> Result<()> {
        Ok(())
    }
    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}

fn id(number: usize) -> Uuid {
    Uuid::from_u128((7 << 76) | (0b10 << 62) | number as u128)
}

fn resyncs(
    rows: Rows,
    followers: usize,
) -> (Arc<Rows>, Arc<ResyncScheduler>, Vec<crate::live::streams::StreamPermit>) {
    let rows = Arc::new(rows);
    let streams = Streams::new(followers, followers);
    let team = TeamId(Uuid::nil());
    let permits = (0..followers).map(|_| streams.acquire(team).unwrap()).collect();
    (rows.clone(), ResyncScheduler::new(rows, streams), permits)
}

fn inbox(number: usize) -> InboxId {
    InboxId(id(number))
}

#[tokio::test(start_paused = true)]
async fn an_inbox_is_looked_into_once_for_all_who_follow_it() {
    let rows = Rows { ids: vec![id(9), id(8), id(3)], ..Rows::default() };
    let (rows, resyncs, _open) = resyncs(rows, 100);
    let mut followers: Vec<_> = (0..100).map(|_| ResyncQueue::default()).collect();
    for (number, follower) in followers.iter_mut().enumerate() {
        follower.plan(&resyncs, inbox(0), id(3 + number));
        follower.plan(&resyncs, inbox(0), id(200));
    }
    for follower in &mut followers {
        let found = follower.found().await.unwrap();
        assert_eq!(found.ids, [id(9), id(8)], "what is after the least floor");
        assert!(follower.is_empty());
    }
    assert_eq!(rows.scans.lock().unwrap().len(), 1);
    let (_, scan) = rows.scans.lock().unwrap().pop().unwrap();
    assert!(scan.keys_only);
    assert_eq!(scan.until, Some(vec![Value::Uuid(id(3))]));
    assert!(resyncs.planned().is_empty());
}

#[tokio::test(start_paused = true)]
async fn looks_are_spread_and_take_turns() {
    const INBOXES: usize = 6_000;
    let (rows, resyncs, _open) = resyncs(Rows::default(), INBOXES);
    let began = Instant::now();
    let mut followers = Vec::new();
    for number in 0..INBOXES {
        let mut follower = ResyncQueue::default();
        follower.plan(&resyncs, inbox(number), Uuid::nil());
        followers.push(follower);
    }
    for follower in &mut followers {
        follower.found().await.unwrap();
    }
    let scans = rows.scans.lock().unwrap();
    assert_eq!(scans.len(), INBOXES);
    assert!(rows.most.load(Ordering::SeqCst) <= 16);
    let mut seconds = [0_usize; 5];
    for (at, _) in scans.iter() {
        let millis = at.duration_since(began).as_millis();
        seconds[usize::try_from(millis / 1_000).unwrap().min(4)] += 1;
        assert!(millis <= 5_100, "{millis}");
    }
    // 1,200 each, give or take eight standard deviations.
    assert!(seconds.iter().all(|count| (950..1_450).contains(count)), "{seconds:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reason_that_comes_during_a_look_leads_to_another() {
    let (rows, resyncs, _open) = resyncs(Rows::default(), 1);
    let mut follower = ResyncQueue::default();
    follower.plan(&resyncs, inbox(0), id(1));
    while rows.scans.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
    for _ in 0..3 {
        follower.plan(&resyncs, inbox(0), id(1));
    }
    assert!(follower.found().await.is_some() && !follower.is_empty());
    assert!(follower.found().await.is_some() && follower.is_empty());
    assert_eq!(rows.scans.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_is_asked_again_while_somebody_waits() {
    let (rows, resyncs, _open) = resyncs(Rows { failing: 3.into(), ..Rows::default() }, 1);
    let mut follower = ResyncQueue::default();
    follower.plan(&resyncs, inbox(0), id(1));
    assert!(follower.found().await.is_some());
    assert_eq!(rows.scans.lock().unwrap().len(), 4);
    follower.plan(&resyncs, inbox(0), id(1));
    drop(follower);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(rows.scans.lock().unwrap().len(), 4);
    assert!(resyncs.planned().is_empty());
}

#[test]
fn what_is_after_a_floor_is_known_or_not() {
    let ids = vec![id(9), id(7), id(5)];
    let all = NewestMessages { ids: ids.clone(), more: false };
    assert_eq!(all.after(id(7)), Some(&ids[..1]));
    assert_eq!(all.after(id(1)), Some(&ids[..]));
    let some = NewestMessages { ids: ids.clone(), more: true };
    assert_eq!(some.after(id(7)), Some(&ids[..1]));
    assert_eq!(some.after(id(1)), None);
}

//! A delete that is cut off takes no mail that nobody can read.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use trapline_app::Error;
use trapline_model::Inbox;
use trapline_store::{
    Job, Key, Lane, Op, PortError, Record as _, Result, Row, Scan, Store, Table, When,
    by_partition,
    records::{Inbox as InboxRow, SmtpLogin},
};

use crate::support::Bench;

/// Writes the first partition of the next write after it is told so, and does not answer.
struct CutOff {
    store: Arc<dyn Store>,
    next: Arc<AtomicBool>,
}

#[async_trait]
impl Store for CutOff {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.store.prepare(tables).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.store.get(key).await
    }
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.store.scan(scan).await
    }
    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        let mut partitions = by_partition(ops.clone())?;
        if partitions.len() > 1 && self.next.swap(false, Ordering::SeqCst) {
            self.store.write(partitions.remove(0)).await?;
            return Err(PortError::Timeout);
        }
        self.store.write(ops).await
    }
    async fn ping(&self) -> Result<()> {
        self.store.ping().await
    }
}

async fn bench() -> (Bench, Arc<AtomicBool>) {
    let next = Arc::<AtomicBool>::default();
    let cut = next.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(CutOff { store: ports.store.clone(), next: cut });
    });
    (bench.await, next)
}

/// Whether mail to the inbox is answered 250 and kept for it.
async fn takes_mail(bench: &Bench, inbox: &Inbox) -> bool {
    let route = bench.app.route(&inbox.address).await.unwrap();
    route.is_ok_and(|mailbox| mailbox.inbox() == inbox.id)
}

async fn purge(bench: &Bench) {
    bench.clock.advance(Duration::from_secs(11));
    let lease = bench.app.take_jobs(Lane::Housekeeping, 1, Duration::ZERO).await.unwrap().remove(0);
    bench.app.housekeep(&lease.job).await.unwrap();
}

#[tokio::test]
async fn a_delete_that_was_cut_off_takes_no_mail_and_can_be_repeated() {
    let (bench, cut_off) = bench().await;
    let inbox = bench.inbox(10, None).await;
    assert!(takes_mail(&bench, &inbox).await);
    cut_off.store(true, Ordering::SeqCst);
    let cut = bench.app.delete_inbox(bench.team, inbox.id).await;
    assert!(matches!(cut, Err(Error::Unavailable)), "{cut:?}");
    assert!(!takes_mail(&bench, &inbox).await, "there is an answer 250 for mail that nobody reads");
    assert!(bench.app.inbox(bench.team, inbox.id).await.is_ok(), "what is left can be seen");
    bench.app.delete_inbox(bench.team, inbox.id).await.unwrap();
    assert!(matches!(bench.app.inbox(bench.team, inbox.id).await, Err(Error::NotFound)));
    purge(&bench).await;
}

#[tokio::test]
async fn a_new_password_opens_an_inbox_whose_delete_was_cut_off() {
    let (bench, cut_off) = bench().await;
    let inbox = bench.inbox(10, None).await;
    cut_off.store(true, Ordering::SeqCst);
    bench.app.delete_inbox(bench.team, inbox.id).await.unwrap_err();
    bench.app.rotate_password(bench.team, inbox.id).await.unwrap();
    assert!(takes_mail(&bench, &inbox).await);
}

/// As an older release, or a change at the same moment, may leave it.
#[tokio::test]
async fn a_purge_removes_a_login_without_its_inbox() {
    let (bench, _) = bench().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let login = SmtpLogin::row(&inbox.smtp.username);
    let row = bench.ports.store.get(&login).await.unwrap().unwrap();
    bench.app.delete_inbox(bench.team, inbox.id).await.unwrap();
    let back = Op::Put { key: login.clone(), doc: row.doc, ttl: None, when: When::Absent };
    bench.ports.store.write(vec![back]).await.unwrap();
    purge(&bench).await;
    assert!(bench.ports.store.get(&login).await.unwrap().is_none());
    assert!(takes_mail(&bench, &other).await);
}

#[tokio::test]
async fn a_purge_that_an_older_release_planned_is_done() {
    let (bench, _) = bench().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "old").await;
    let key = InboxRow::row(bench.team, inbox.id);
    let row = bench.ports.store.get(&key).await.unwrap().unwrap();
    assert_eq!(InboxRow::of(&row).unwrap().id, inbox.id);
    let delete = Op::Delete { key, when: When::Version(row.version) };
    bench.ports.store.write(vec![delete]).await.unwrap();
    let work = json!({ "purge": { "team": bench.team, "inbox": inbox.id } });
    let body = json!({ "due": bench.clock.now(), "work": work });
    let job = Job { id: "purge".to_owned(), lane: Lane::Housekeeping, attempt: 1, body };
    bench.app.housekeep(&job).await.unwrap();
    let key = trapline_store::records::Message::row(id);
    assert!(bench.ports.store.get(&key).await.unwrap().is_none());
}

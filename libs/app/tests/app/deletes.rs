//! Writes of inboxes that are cut off: no mail is taken that nobody can read, and nothing stays behind.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::json;
use trapline_app::{Error, InboxChange, NewInbox};
use trapline_model::{Inbox, InboxId, Principal};
use trapline_store::{
    Job, Lane, Op, PortError, Record as _, Result, Store, When, by_partition,
    records::{AuditRecord, Inbox as InboxRow, InboxEntry, Login},
};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::{Bench, inboxes_of},
};

/// Writes so many partitions of the next write after it is told so, and does not answer.
struct CutOff {
    store: Arc<dyn Store>,
    next: Arc<AtomicUsize>,
}

#[async_trait]
impl StoreLayer for CutOff {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        let partitions = by_partition(ops.clone())?;
        let next = self.next.load(Ordering::SeqCst);
        // The entry of the audit log comes first, and is not counted.
        let is_told = ops.first().is_some_and(|op| op.key().table == AuditRecord::TABLE);
        let told = usize::from(is_told);
        if partitions.len() > 1 + told && next > 0 {
            self.next.store(0, Ordering::SeqCst);
            let first = partitions.into_iter().take(next + told).flatten();
            self.store.write(first.collect()).await?;
            return Err(PortError::Timeout);
        }
        self.store.write(ops).await
    }
}

async fn bench() -> (Bench, Arc<AtomicUsize>) {
    let next = Arc::<AtomicUsize>::default();
    let cut = next.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(CutOff { store: ports.store.clone(), next: cut }));
    });
    (bench.await, next)
}

/// Whether mail to the inbox is answered 250 and kept for it.
async fn takes_mail(bench: &Bench, inbox: &Inbox) -> bool {
    let route = bench.app.receive().route(&inbox.address).await.unwrap();
    route.is_ok_and(|mailbox| mailbox.inbox() == inbox.id)
}

async fn purge(bench: &Bench) {
    bench.clock.advance(Duration::from_secs(11));
    let lease =
        bench.app.jobs().take(Lane::Housekeeping, 1, Duration::ZERO).await.unwrap().remove(0);
    bench.app.maintenance().housekeep(&lease.job).await.unwrap();
}

async fn listed(bench: &Bench) -> Vec<InboxId> {
    let inboxes = inboxes_of(&bench.app, &bench.by).await;
    inboxes.into_iter().map(|inbox| inbox.id).collect()
}

#[tokio::test]
async fn a_delete_that_was_cut_off_takes_no_mail_and_is_finished() {
    for partitions in 1..=3 {
        let (bench, cut_off) = bench().await;
        let before = listed(&bench).await;
        let inbox = bench.inbox(10, None).await;
        assert!(takes_mail(&bench, &inbox).await);
        assert_eq!(listed(&bench).await.last(), Some(&inbox.id));
        cut_off.store(partitions, Ordering::SeqCst);
        let cut = bench.app.inboxes().delete(&bench.by, inbox.id).await;
        assert!(matches!(cut, Err(Error::Unavailable)), "{cut:?}");
        assert!(!takes_mail(&bench, &inbox).await, "an answer 250 for mail that nobody reads");
        assert!(matches!(bench.app.inboxes().get(&bench.by, inbox.id).await, Err(Error::NotFound)));
        if partitions == 2 {
            let again = bench.app.inboxes().delete(&bench.by, inbox.id).await;
            assert!(matches!(again, Err(Error::NotFound)), "{again:?}");
            assert_eq!(listed(&bench).await, before);
        }
        purge(&bench).await;
        assert_eq!(listed(&bench).await, before);
        let login = Login::row(&inbox.smtp.username);
        assert!(bench.ports.store.get(&login).await.unwrap().is_none());
    }
}

/// What was not answered is either there or not, for everybody, and nothing of it stays behind.
#[tokio::test]
async fn a_creation_that_was_cut_off_leaves_all_or_nothing() {
    for partitions in 1..=4 {
        let (bench, cut_off) = bench().await;
        let before = listed(&bench).await;
        cut_off.store(partitions, Ordering::SeqCst);
        let lifetime = Some(Duration::from_hours(1));
        let new = NewInbox { lifetime, ..NewInbox::named("cut off") };
        bench.app.inboxes().create(&bench.by, new).await.unwrap_err();
        let after = listed(&bench).await;
        let entries = entries(&bench).await;
        assert_eq!(entries.len(), before.len() + 1);
        let entry = entries.iter().find(|entry| !before.contains(&entry.inbox)).unwrap();
        if partitions == 4 {
            assert_eq!(after.last(), Some(&entry.inbox));
            assert_eq!(after.len(), before.len() + 1);
            bench.app.inboxes().delete(&bench.by, entry.inbox).await.unwrap();
        } else {
            assert_eq!(after, before);
            bench.clock.advance(Duration::from_mins(11));
        }
        assert_eq!(listed(&bench).await, before);
        assert_eq!(self::entries(&bench).await.len(), before.len());
        let login = Login::row(&entry.username);
        assert!(bench.ports.store.get(&login).await.unwrap().is_none());
    }
}

async fn entries(bench: &Bench) -> Vec<InboxEntry> {
    let mut entries = Vec::new();
    for scan in InboxEntry::of_team(bench.team) {
        let rows = bench.ports.store.scan(scan).await.unwrap();
        entries.extend(rows.iter().map(|row| InboxEntry::of(row).unwrap()));
    }
    entries
}

#[tokio::test]
async fn the_list_says_what_the_inbox_says_after_changes_that_were_cut_off() {
    let (bench, cut_off) = bench().await;
    let inbox = bench.inbox(10, None).await;
    let rename = async |name: &str| {
        let change = InboxChange { name: Some(name.to_owned()), ..InboxChange::default() };
        bench.app.inboxes().update(&bench.by, inbox.id, change).await
    };
    let names = async || {
        let listed = inboxes_of(&bench.app, &bench.by).await.pop().unwrap();
        [bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap().name, listed.name]
    };
    cut_off.store(1, Ordering::SeqCst);
    rename("not applied").await.unwrap_err();
    assert_eq!(names().await, ["bench", "bench"]);
    cut_off.store(2, Ordering::SeqCst);
    rename("applied").await.unwrap_err();
    assert_eq!(names().await, ["applied", "applied"]);
    let renamed = join_all(["a", "b", "c", "d"].map(rename)).await;
    assert!(renamed.iter().all(Result::is_ok), "{renamed:?}");
    let [own, listed] = names().await;
    assert_eq!(own, listed);
    rename("last").await.unwrap();
    assert_eq!(names().await, ["last", "last"]);
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    purge(&bench).await;
    assert!(entries(&bench).await.iter().all(|entry| entry.inbox != inbox.id));
}

/// Whoever was not answered asks again, and finds all of them there or gone.
#[tokio::test]
async fn a_removal_of_many_that_was_cut_off_is_repeated() {
    // The plans to look at their segments, which are one to three partitions, the messages, and their marks.
    for partitions in 1..=5 {
        let (bench, cut_off) = bench().await;
        let inbox = bench.inbox(10, None).await;
        let mut ids = Vec::new();
        for subject in ["a", "b", "c"] {
            ids.push(bench.deliver(&inbox, subject).await);
        }
        let messages = bench.app.messages();
        messages.set_many_read(&bench.by, inbox.id, &ids, true).await.unwrap();
        // Later than the first look at the segment.
        bench.clock.advance(Duration::from_hours(2));
        cut_off.store(partitions, Ordering::SeqCst);
        let cut = messages.delete_many(&bench.by, inbox.id, &ids).await;
        assert!(matches!(cut, Err(Error::Unavailable)), "{cut:?}");
        let counted = bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap().message_count;
        let left = bench.subjects(&inbox).await.len() as u64;
        assert_eq!(counted, left);
        let possible: &[u64] = match partitions {
            1 => &[3],
            5 => &[0],
            _ => &[0, 3],
        };
        assert!(possible.contains(&left), "{left} after {partitions}");
        assert_eq!(messages.delete_many(&bench.by, inbox.id, &ids).await.unwrap(), left);
        assert!(bench.subjects(&inbox).await.is_empty());
    }
}

#[tokio::test]
async fn an_inbox_of_another_team_is_not_there() {
    let (bench, _) = bench().await;
    let theirs = Principal::system(bench.app.access().create_team("Others").await.unwrap());
    let inbox = bench.inbox(10, None).await;
    assert!(inboxes_of(&bench.app, &theirs).await.is_empty());
    assert!(matches!(bench.app.inboxes().get(&theirs, inbox.id).await, Err(Error::NotFound)));
    assert!(matches!(bench.app.inboxes().delete(&theirs, inbox.id).await, Err(Error::NotFound)));
    assert!(matches!(
        bench.app.inboxes().rotate_password(&theirs, inbox.id).await,
        Err(Error::NotFound)
    ));
    assert!(takes_mail(&bench, &inbox).await);
}

#[tokio::test]
async fn a_purge_that_an_older_release_planned_is_done() {
    let (bench, _) = bench().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "old").await;
    let key = InboxRow::row(inbox.id);
    let row = bench.ports.store.get(&key).await.unwrap().unwrap();
    assert_eq!(InboxRow::of(&row).unwrap().id, inbox.id);
    let delete = Op::Delete { key, when: When::Version(row.version) };
    bench.ports.store.write(vec![delete]).await.unwrap();
    let work = json!({ "purge": { "team": bench.team, "inbox": inbox.id } });
    let body = json!({ "due": bench.clock.now(), "work": work });
    let job = Job { id: "purge".to_owned(), lane: Lane::Housekeeping, attempt: 1, body };
    bench.app.maintenance().housekeep(&job).await.unwrap();
    let key = trapline_store::records::Message::row(id);
    assert!(bench.ports.store.get(&key).await.unwrap().is_none());
}

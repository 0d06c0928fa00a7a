//! What is over goes: expired inboxes, deleted bytes.

use std::time::Duration;

use crate::support::{Bench, anything, json};
use trapline_app::{Error, InboxChange, Waited};
use trapline_model::{Access, MessageId, Principal};
use trapline_store::{
    BlobRef, Lane, Lease, Op, PortError, Record as _, When,
    records::{Inbox as InboxRow, Message, SegmentAlias},
};

const HOUR: Duration = Duration::from_hours(1);

async fn blob(bench: &Bench, id: MessageId) -> BlobRef {
    let row = bench.ports.store.get(&Message::row(id)).await.unwrap().unwrap();
    Message::of(&row).unwrap().blob
}

/// Several rounds, as the chores of one may make others due.
async fn pass(bench: &Bench, by: Duration) {
    bench.clock.advance(by);
    bench.app.maintenance().run_due().await.unwrap();
}

#[tokio::test]
async fn an_expired_inbox_is_gone_at_once_and_its_rows_after_the_next_round() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, Some(Duration::from_mins(5))).await;
    let id = bench.deliver(&inbox, "short life").await;
    let blob = blob(&bench, id).await;
    bench.clock.advance(Duration::from_mins(5));
    assert!(matches!(bench.app.inboxes().get(&bench.by, inbox.id).await, Err(Error::NotFound)));
    assert!(matches!(bench.app.messages().get(&bench.by, id).await, Err(Error::NotFound)));
    let login = bench.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
    assert!(login.is_err());
    bench.app.maintenance().run_due().await.unwrap();
    assert!(bench.ports.store.get(&Message::row(id)).await.unwrap().is_none());
    pass(&bench, HOUR).await;
    let read = bench.ports.blobs.read(&blob, None).await;
    assert!(matches!(read, Err(PortError::Damaged(_))), "{read:?}");
}

#[tokio::test]
async fn an_inbox_that_was_given_more_time_outlives_its_first_end() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, Some(Duration::from_mins(5))).await;
    let (by, app) = (bench.by, &bench.app);
    let id = bench.deliver(&inbox, "longer life").await;
    app.messages().set_read(&by, id, true).await.unwrap();
    let give = async |lifetime: Option<Duration>| {
        let change = InboxChange { lifetime: Some(lifetime), ..InboxChange::default() };
        app.inboxes().update(&by, inbox.id, change).await.unwrap()
    };
    give(Some(2 * HOUR)).await;
    // The chore of the first end comes, and what is left of the mail is looked at.
    pass(&bench, HOUR).await;
    let message = app.messages().get(&by, id).await.unwrap();
    assert!(message.is_read);
    assert!(app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap().is_ok());
    bench.deliver(&inbox, "still taken").await;
    assert_eq!(give(None).await.expires_at, None);
    for _ in 0..2 {
        pass(&bench, 24 * HOUR).await;
    }
    assert_eq!(app.inboxes().get(&by, inbox.id).await.unwrap().message_count, 2);
    assert_eq!(app.messages().raw(&by, id).await.unwrap().len() as u64, message.size);
    // Less time than it had.
    give(Some(HOUR)).await;
    give(Some(Duration::from_mins(1))).await;
    pass(&bench, Duration::from_mins(1)).await;
    assert!(matches!(app.inboxes().get(&by, inbox.id).await, Err(Error::NotFound)));
    assert!(bench.ports.store.get(&Message::row(id)).await.unwrap().is_none());
    assert!(bench.ports.store.get(&InboxRow::row(inbox.id)).await.unwrap().is_none());
    pass(&bench, HOUR).await;
}

/// Waits and streams that were there before go on after the end that they knew of.
#[tokio::test]
async fn who_listens_to_an_inbox_goes_on_when_it_was_given_more_time() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, Some(Duration::from_mins(5))).await;
    let (by, app) = (bench.by, bench.app.clone());
    let reader = Principal { access: Access::Read, ..by };
    let mut feed = app.live().feed(&reader, inbox.id, None).await.unwrap();
    let parked = app.clone();
    let wait = async move { parked.live().wait(&by, inbox.id, &anything(), 2 * HOUR).await };
    let wait = tokio::spawn(wait);
    // On this runtime the wait has run until it has nothing to do.
    tokio::task::yield_now().await;
    let change = InboxChange { lifetime: Some(Some(HOUR)), ..InboxChange::default() };
    app.inboxes().update(&by, inbox.id, change).await.unwrap();
    bench.clock.advance(Duration::from_mins(6));
    let id = bench.deliver(&inbox, "later").await;
    let Waited::Found(message) = wait.await.unwrap().unwrap() else { panic!("no message") };
    assert_eq!(message.id, id);
    let updated = json(&feed.next().await.unwrap());
    assert!(updated["inbox"]["smtp"].get("password").is_none(), "{updated}");
    assert_eq!(feed.next().await.unwrap().name, "message.created");
}

#[tokio::test]
async fn the_bytes_of_a_deleted_message_are_gone_within_a_day() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "deleted").await;
    let blob = blob(&bench, id).await;
    pass(&bench, HOUR).await;
    assert!(bench.ports.blobs.read(&blob, None).await.is_ok());
    bench.app.messages().delete(&bench.by, id).await.unwrap();
    for _ in 0..24 {
        pass(&bench, HOUR).await;
    }
    let read = bench.ports.blobs.read(&blob, None).await;
    assert!(matches!(read, Err(PortError::Damaged(_))), "{read:?}");
}

#[tokio::test]
async fn compaction_keeps_every_living_message_readable() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let subjects: Vec<_> = (0..20).map(|number| format!("number {number}")).collect();
    let sending = subjects.iter().map(|subject| bench.deliver(&inbox, subject));
    let ids = futures_util::future::join_all(sending).await;
    let before = blob(&bench, ids[7]).await;
    assert_eq!(before.segment, blob(&bench, ids[0]).await.segment, "they were one group");
    for (place, id) in ids.iter().enumerate() {
        if place != 7 {
            bench.app.messages().delete(&bench.by, *id).await.unwrap();
        }
    }
    // The first visit compacts, the old segment goes after its grace, and so again for the new one.
    for _ in 0..60 {
        pass(&bench, HOUR).await;
    }
    let raw = bench.app.messages().raw(&bench.by, ids[7]).await.unwrap();
    assert!(raw.ends_with(b"hello number 7\r\n"));
    assert!(bench.ports.blobs.segment(&before.segment).await.unwrap().is_none());
    let alias = bench.ports.store.get(&SegmentAlias::row(&before.segment)).await.unwrap().unwrap();
    let after = SegmentAlias::of(&alias).unwrap().moved.remove(0).to.segment;
    assert!(bench.ports.blobs.segment(&after).await.unwrap().is_some());
    bench.app.messages().delete(&bench.by, ids[7]).await.unwrap();
    for _ in 0..48 {
        pass(&bench, HOUR).await;
    }
    assert!(bench.ports.blobs.segment(&after).await.unwrap().is_none());
    let alias = bench.ports.store.get(&SegmentAlias::row(&before.segment)).await.unwrap();
    assert!(alias.is_none(), "an alias goes with the segment that it leads to");
}

#[tokio::test]
async fn an_empty_message_beside_another_costs_it_nothing() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let real = b"Subject: real\r\n\r\nstill here\r\n".to_vec();
    let mails = [Vec::new(), real.clone(), vec![b'x'; 2_000]];
    let sending = mails.map(|raw| bench.deliver_raw(&inbox, "app@example.com", raw));
    let ids = futures_util::future::join_all(sending).await;
    let (empty, full) = (blob(&bench, ids[0]).await, blob(&bench, ids[1]).await);
    assert_eq!((&empty.segment, empty.offset), (&full.segment, full.offset));
    bench.app.messages().delete(&bench.by, ids[2]).await.unwrap();
    for _ in 0..3 {
        pass(&bench, HOUR).await;
    }
    assert!(bench.ports.blobs.segment(&full.segment).await.unwrap().is_none(), "it was compacted");
    assert_eq!(bench.app.messages().raw(&bench.by, ids[0]).await.unwrap().len(), 0);
    assert_eq!(bench.app.messages().raw(&bench.by, ids[1]).await.unwrap(), real);
}

#[tokio::test]
async fn a_deleted_inbox_loses_its_rows_to_a_job() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "orphan").await;
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    assert!(matches!(bench.app.messages().get(&bench.by, id).await, Err(Error::NotFound)));
    assert!(purge_job(&bench).await.is_none(), "due only once no process knows the inbox");
    bench.clock.advance(Duration::from_secs(11));
    bench.app.maintenance().housekeep(&purge_job(&bench).await.unwrap().job).await.unwrap();
    assert!(bench.ports.store.get(&Message::row(id)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_purge_waits_until_its_inbox_is_gone() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "still wanted").await;
    let row = bench.ports.store.get(&InboxRow::row(inbox.id)).await.unwrap().unwrap();
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    let back =
        Op::Put { key: InboxRow::row(inbox.id), doc: row.doc, ttl: None, when: When::Absent };
    bench.ports.store.write(vec![back]).await.unwrap();
    bench.clock.advance(Duration::from_secs(11));
    let lease = purge_job(&bench).await.unwrap();
    assert!(matches!(bench.app.maintenance().housekeep(&lease.job).await, Err(Error::Conflict)));
    assert!(bench.ports.store.get(&Message::row(id)).await.unwrap().is_some());
}

async fn purge_job(bench: &Bench) -> Option<Lease> {
    bench.app.jobs().take(Lane::Housekeeping, 1, Duration::ZERO).await.unwrap().pop()
}

//! Many messages of an inbox at once.

use std::time::Duration;

use futures_util::StreamExt as _;
use trapline_app::{AuditAction, Feed, FeedEvent};
use trapline_model::{Inbox, InboxId, MessageId};
use trapline_store::{
    LiveEvent, Signal,
    records::{Mark, Message},
};
use uuid::Uuid;

use crate::{
    support::{Bench, json},
    watched::Watch,
};

async fn delivered<const N: usize>(bench: &Bench, inbox: &Inbox) -> [MessageId; N] {
    let mut ids = Vec::new();
    for number in 0..N {
        ids.push(bench.deliver(inbox, &number.to_string()).await);
    }
    ids.try_into().unwrap()
}

async fn delete(bench: &Bench, inbox: InboxId, ids: &[MessageId]) -> u64 {
    bench.app.messages().delete_many(&bench.by, inbox, ids).await.unwrap()
}

async fn mark(bench: &Bench, inbox: InboxId, ids: &[MessageId], is_read: bool) -> u64 {
    bench.app.messages().set_many_read(&bench.by, inbox, ids, is_read).await.unwrap()
}

async fn counts(bench: &Bench, inbox: &Inbox) -> (u64, u64) {
    let inbox = bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap();
    (inbox.message_count, inbox.unread_count)
}

async fn next(feed: &mut Feed) -> FeedEvent {
    let event = tokio::time::timeout(Duration::from_mins(5), feed.next()).await;
    event.expect("an event in time").unwrap()
}

/// Ids that name no message of the inbox: of another inbox, of none, and of bits that no message has.
fn strangers(inbox: &Inbox, other: MessageId) -> Vec<MessageId> {
    let of = |inbox, uuid| MessageId { inbox, uuid };
    vec![
        other,
        of(inbox.id, other.uuid),
        of(InboxId(Uuid::nil()), other.uuid),
        of(inbox.id, Uuid::nil()),
        of(inbox.id, Uuid::max()),
        of(inbox.id, Uuid::from_u128(7)),
    ]
}

#[tokio::test]
async fn deleted_together_they_are_gone_and_others_stay() {
    let bench = Bench::new().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let [a, b, c, d] = delivered(&bench, &inbox).await;
    let [theirs] = delivered(&bench, &other).await;
    bench.app.messages().set_read(&bench.by, b, true).await.unwrap();
    assert_eq!(counts(&bench, &inbox).await, (4, 3));
    let mut feed = bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    let mut ids = strangers(&inbox, theirs);
    assert_eq!(delete(&bench, inbox.id, &ids).await, 0);
    ids.extend([b, a, b, d, a]);
    assert_eq!(delete(&bench, inbox.id, &ids).await, 3);
    assert_eq!(bench.subjects(&inbox).await, ["2"]);
    assert_eq!(counts(&bench, &inbox).await, (1, 1));
    assert_eq!(bench.subjects(&other).await, ["0"]);
    for key in [Message::row(b), Mark::row(b)] {
        assert_eq!(bench.ports.store.get(&key).await.unwrap(), None);
    }
    // Again it is as good as never.
    assert_eq!(delete(&bench, inbox.id, &ids).await, 0);
    bench.app.messages().delete(&bench.by, c).await.unwrap();
    let told = next(&mut feed).await;
    assert_eq!(told.name, "message.deleted");
    let wanted = [d, b, a].map(|id| id.to_string());
    assert_eq!(json(&told)["ids"], serde_json::json!(wanted));
    assert_eq!(json(&next(&mut feed).await)["ids"], serde_json::json!([c.to_string()]));
    let log = bench.app.audit().latest(&bench.by).await.unwrap();
    let together = AuditAction::InboxMessagesDeleted.name();
    let mut entries = log.iter().filter(|entry| entry.action == together);
    let entry = entries.next().unwrap();
    assert_eq!((entry.target.id.as_str(), entries.count()), (inbox.id.to_string().as_str(), 0));
}

#[tokio::test]
async fn marked_together_they_are_told_of_together() {
    let bench = Bench::new().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let [a, b, c, d] = delivered(&bench, &inbox).await;
    let [theirs] = delivered(&bench, &other).await;
    bench.app.messages().set_read(&bench.by, a, true).await.unwrap();
    let mut feed = bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    let mut ids = strangers(&inbox, theirs);
    assert_eq!(mark(&bench, inbox.id, &ids, true).await, 0);
    ids.extend([b, a, b, c]);
    // One was read before.
    assert_eq!(mark(&bench, inbox.id, &ids, true).await, 2);
    assert_eq!(mark(&bench, inbox.id, &ids, true).await, 0);
    assert_eq!(counts(&bench, &inbox).await, (4, 1));
    assert_eq!(counts(&bench, &other).await, (1, 1));
    // Later than what holds for all.
    bench.app.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    assert_eq!(mark(&bench, inbox.id, &[a, d], false).await, 2);
    let read: Vec<_> = bench.list(&inbox).await.messages.into_iter().map(|it| it.is_read).collect();
    assert_eq!(read, [false, true, true, false]);
    assert_eq!(counts(&bench, &inbox).await, (4, 2));
    let told = |event: &FeedEvent| {
        assert_eq!(event.name, "inbox.updated");
        (json(event)["inbox"]["unreadCount"].clone(), json(event)["marked"].clone())
    };
    let marked = |ids: &[MessageId], is_read: bool| {
        let ids: Vec<_> = ids.iter().map(MessageId::to_string).collect();
        serde_json::json!({ "ids": ids, "isRead": is_read })
    };
    assert_eq!(told(&next(&mut feed).await), (1.into(), marked(&[c, b], true)));
    assert_eq!(told(&next(&mut feed).await), (0.into(), serde_json::Value::Null));
    assert_eq!(told(&next(&mut feed).await), (2.into(), marked(&[d, a], false)));
}

#[tokio::test]
async fn what_is_beyond_the_bound_or_another_teams_is_not_changed() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(3, None).await;
    let ids: [MessageId; 5] = delivered(&bench, &inbox).await;
    assert_eq!(mark(&bench, inbox.id, &ids, true).await, 3);
    let other = bench.app.access().create_team("Other").await.unwrap();
    let by = trapline_model::Principal::system(other);
    let messages = bench.app.messages();
    messages.delete_many(&by, inbox.id, &ids).await.unwrap_err();
    messages.set_many_read(&by, inbox.id, &ids, false).await.unwrap_err();
    assert_eq!(counts(&bench, &inbox).await, (3, 0));
    assert_eq!(delete(&bench, inbox.id, &ids).await, 3);
}

/// As many as one request names, far apart in a large inbox.
#[tokio::test]
async fn two_hundred_far_apart_are_found() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(1_000, None).await;
    let ids: [MessageId; 800] = delivered(&bench, &inbox).await;
    let some: Vec<_> = ids.iter().step_by(4).copied().collect();
    assert_eq!(mark(&bench, inbox.id, &some, true).await, 200);
    assert_eq!(counts(&bench, &inbox).await, (800, 600));
    assert_eq!(delete(&bench, inbox.id, &some).await, 200);
    assert_eq!(counts(&bench, &inbox).await, (600, 600));
}

#[tokio::test]
async fn their_bytes_are_freed_as_those_of_one_are() {
    let watch = Watch::default();
    let bench = Bench::with(|ports| watch.over(ports)).await;
    let inbox = bench.inbox(10, None).await;
    let ids: [MessageId; 2] = delivered(&bench, &inbox).await;
    let row = bench.ports.store.get(&Message::row(ids[0])).await.unwrap().unwrap();
    let segment = Message::of(&row).unwrap().blob.segment;
    let hours = async |hours: u32| {
        for _ in 0..hours {
            bench.clock.advance(Duration::from_hours(1));
            bench.app.maintenance().run_due().await.unwrap();
        }
    };
    hours(40).await;
    assert_eq!(delete(&bench, inbox.id, &ids).await, 2);
    hours(13).await;
    assert_eq!(bench.ports.blobs.segment(&segment).await.unwrap(), None);
}

/// As processes announce that are not equally quick.
#[tokio::test]
async fn marks_that_are_announced_late_undo_no_later_one() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let ids: [MessageId; 3] = delivered(&bench, &inbox).await;
    let mut signals = bench.ports.bus.subscribe(inbox.id).await.unwrap();
    let mut feed = bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    mark(&bench, inbox.id, &ids, true).await;
    bench.app.messages().set_read(&bench.by, ids[1], false).await.unwrap();
    bench.app.messages().delete(&bench.by, ids[0]).await.unwrap();
    for name in ["inbox.updated", "message.updated", "message.deleted"] {
        assert_eq!(next(&mut feed).await.name, name);
    }
    let Some(Signal::Event(late)) = signals.next().await else { panic!("an announcement") };
    let LiveEvent::InboxUpdated { changed: Some(changed) } = &*late else { panic!("{late:?}") };
    assert_eq!(changed.marks.as_ref().unwrap().ids.len(), 3);
    bench.ports.bus.publish(inbox.id, (*late).clone()).await.unwrap();
    let told = json(&next(&mut feed).await);
    assert_eq!(told["inbox"]["unreadCount"], 1);
    let still = serde_json::json!({ "ids": [ids[2].to_string()], "isRead": true });
    assert_eq!(told["marked"], still);
}

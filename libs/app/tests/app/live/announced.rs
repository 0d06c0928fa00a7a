//! What an announcement carries is told without reading, and nothing else than is true is told.

use std::{sync::atomic::Ordering, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _};
use trapline_app::{Feed, FeedEvent, Filter, InboxChange, Waited};
use trapline_model::{Inbox, MessageId};
use trapline_store::{LiveEvent, Signal, records::Message};

use super::doubles::{Bare, Delayed, Reads};
use crate::support::{Bench, anything, json};

async fn feed(bench: &Bench, inbox: &Inbox) -> Feed {
    bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap()
}

async fn next(feed: &mut Feed) -> FeedEvent {
    let event = tokio::time::timeout(Duration::from_mins(5), feed.next()).await;
    event.expect("an event in time").unwrap()
}

/// The announcement of a message that is stored now, and is announced no further.
async fn announcement(bench: &Bench, inbox: &Inbox) -> (MessageId, LiveEvent) {
    let mut signals = bench.ports.bus.subscribe(inbox.id).await.unwrap();
    let id = bench.deliver(inbox, "announced").await;
    let Some(Signal::Event(event)) = signals.next().await else { panic!("an announcement") };
    (id, (*event).clone())
}

async fn publish(bench: &Bench, inbox: &Inbox, event: LiveEvent) {
    bench.ports.bus.publish(inbox.id, event).await.unwrap();
}

fn subject(event: &FeedEvent) -> String {
    assert_eq!(event.name, "message.created");
    json(event)["message"]["subject"].as_str().unwrap().to_owned()
}

/// What the last connections of a process stored, whose answer does not wait for it.
#[tokio::test]
async fn the_tasks_of_a_process_end_when_all_is_announced() {
    let delayed = Delayed::default();
    let bench = Bench::with(|ports| delayed.replace(ports)).await;
    let inbox = bench.inbox(10, None).await;
    let mut signals = bench.ports.bus.subscribe(inbox.id).await.unwrap();
    let id = bench.deliver(&inbox, "last").await;
    let tasks = bench.app.tasks().clone();
    bench.app.shutdown().cancel();
    drop(bench);
    let mut end = Box::pin(tasks.wait_for_all());
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut end).await.is_err());
    delayed.let_go();
    end.await;
    let signal = signals.next().now_or_never().flatten();
    let Some(Signal::Event(event)) = signal else { panic!("an announcement") };
    assert!(matches!(&*event, LiveEvent::MessageCreated { id: told, .. } if *told == id.uuid));
}

#[tokio::test]
async fn streams_tell_of_a_message_without_reading_it() {
    let reads = Reads::default();
    let bench = Bench::with(|ports| reads.count(ports)).await;
    let inbox = bench.inbox(100, None).await;
    let mut feeds = Vec::new();
    for _ in 0..5 {
        feeds.push(feed(&bench, &inbox).await);
    }
    bench.deliver(&inbox, "first").await;
    let id = bench.deliver(&inbox, "second").await;
    let before = reads.asked();
    for feed in &mut feeds {
        assert_eq!(subject(&next(feed).await), "first");
        let second = next(feed).await;
        assert_eq!(subject(&second), "second");
        assert_eq!(json(&second)["message"]["isRead"], false);
    }
    assert_eq!(reads.asked(), before);
    let listed = serde_json::to_value(&bench.list(&inbox).await.messages[0]).unwrap();
    publish(&bench, &inbox, LiveEvent::MessageUpdated { id: id.uuid, marked: None }).await;
    assert_eq!(json(&next(&mut feeds[0]).await)["message"], listed);
}

#[tokio::test]
async fn streams_tell_of_changes_without_reading_them() {
    let reads = Reads::default();
    let bench = Bench::with(|ports| reads.count(ports)).await;
    let inbox = bench.inbox(100, None).await;
    let id = bench.deliver(&inbox, "one").await;
    bench.deliver(&inbox, "two").await;
    let mut feeds = Vec::new();
    for _ in 0..5 {
        feeds.push(feed(&bench, &inbox).await);
    }
    bench.app.messages().set_read(&bench.by, id, true).await.unwrap();
    bench.app.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    let change = InboxChange { name: Some("Changed".to_owned()), ..InboxChange::default() };
    let changed = bench.app.inboxes().update(&bench.by, inbox.id, change).await.unwrap();
    bench.deliver(&inbox, "three").await;
    let before = reads.asked();
    for feed in &mut feeds {
        let marked = next(feed).await;
        assert_eq!(marked.name, "message.updated");
        let message = &json(&marked)["message"];
        assert_eq!((&message["subject"], &message["isRead"]), (&"one".into(), &true.into()));
        let all_read = next(feed).await;
        assert_eq!(all_read.name, "inbox.updated");
        let told = &json(&all_read)["inbox"];
        assert_eq!((&told["messageCount"], &told["unreadCount"]), (&2.into(), &0.into()));
        let told = next(feed).await;
        assert_eq!(told.name, "inbox.updated");
        assert_eq!(json(&told)["inbox"], serde_json::to_value(&changed).unwrap());
        let created = next(feed).await;
        assert_eq!(subject(&created), "three");
        assert_eq!(json(&created)["message"]["isRead"], false);
    }
    assert_eq!(reads.asked(), before);
}

/// As processes announce that are not equally quick.
#[tokio::test]
async fn a_change_that_is_announced_late_does_not_undo_a_later_one() {
    let bench = Bench::new().await;
    let [inbox, other] = [bench.inbox(100, None).await, bench.inbox(100, None).await];
    let id = bench.deliver(&inbox, "one").await;
    let mut signals = bench.ports.bus.subscribe(inbox.id).await.unwrap();
    let mut feed = feed(&bench, &inbox).await;
    let mut events = Vec::new();
    for is_read in [true, false] {
        bench.app.messages().set_read(&bench.by, id, is_read).await.unwrap();
        assert_eq!(json(&next(&mut feed).await)["message"]["isRead"], is_read);
    }
    for name in ["first", "second"] {
        let change = InboxChange { name: Some(name.to_owned()), ..InboxChange::default() };
        bench.app.inboxes().update(&bench.by, inbox.id, change).await.unwrap();
        assert_eq!(json(&next(&mut feed).await)["inbox"]["name"], name);
    }
    while events.len() < 4 {
        let Some(Signal::Event(event)) = signals.next().await else { panic!("an event") };
        events.push((*event).clone());
    }
    publish(&bench, &inbox, events[0].clone()).await;
    assert_eq!(json(&next(&mut feed).await)["message"]["isRead"], false);
    publish(&bench, &inbox, events[2].clone()).await;
    assert_eq!(json(&next(&mut feed).await)["inbox"]["name"], "second");
    // What holds for all is younger than a mark that is heard after it.
    bench.app.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    assert_eq!(next(&mut feed).await.name, "inbox.updated");
    publish(&bench, &inbox, events[1].clone()).await;
    assert_eq!(json(&next(&mut feed).await)["message"]["isRead"], true);
    // One that is deleted is not told of again.
    bench.app.messages().delete(&bench.by, id).await.unwrap();
    assert_eq!(next(&mut feed).await.name, "message.deleted");
    publish(&bench, &inbox, events[1].clone()).await;
    let (_, created) = announcement(&bench, &other).await;
    publish(&bench, &inbox, created).await;
    assert_eq!(next(&mut feed).await.name, "message.created");
}

#[tokio::test]
async fn what_an_older_process_announces_is_read() {
    let reads = Reads::default();
    let bench = Bench::with(|ports| {
        reads.count(ports);
        Bare::replace(ports);
    })
    .await;
    let inbox = bench.inbox(100, None).await;
    let mut feed = feed(&bench, &inbox).await;
    let gone = bench.deliver(&inbox, "gone").await;
    bench.app.messages().delete(&bench.by, gone).await.unwrap();
    bench.deliver(&inbox, "there").await;
    assert_eq!(next(&mut feed).await.name, "message.deleted");
    assert_eq!(subject(&next(&mut feed).await), "there");
    // A fault of the store loses no announcement.
    bench.deliver(&inbox, "later").await;
    reads.failing.store(1, Ordering::SeqCst);
    tokio::time::pause();
    assert_eq!(subject(&next(&mut feed).await), "later");
    assert_eq!(reads.failing.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_message_whose_deletion_came_first_is_not_told() {
    let bench = Bench::new().await;
    let [inbox, other] = [bench.inbox(100, None).await, bench.inbox(100, None).await];
    // Deleted by its id, and with all others.
    for event in [None, Some(LiveEvent::InboxEmptied)] {
        let mut feed = feed(&bench, &inbox).await;
        let (id, created) = announcement(&bench, &other).await;
        let event = event.unwrap_or(LiveEvent::MessagesDeleted { ids: vec![id.uuid] });
        publish(&bench, &inbox, event).await;
        publish(&bench, &inbox, created).await;
        bench.deliver(&inbox, "there").await;
        assert_eq!(next(&mut feed).await.name, "message.deleted");
        assert_eq!(subject(&next(&mut feed).await), "there");
    }
}

#[tokio::test]
async fn a_long_row_is_read() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let mut signals = bench.ports.bus.subscribe(inbox.id).await.unwrap();
    let mut feed = feed(&bench, &inbox).await;
    let people: Vec<_> = (0..45).map(|n| format!("Person {n} <p{n}@x.test>")).collect();
    let (subject, people) = ("long ".repeat(180), people.join(",\r\n "));
    let raw = format!("Subject: {subject}\r\nTo: {people}\r\nCc: {people}\r\n\r\nhello\r\n");
    bench.deliver_raw(&inbox, "app@example.com", raw.into()).await;
    let Some(Signal::Event(event)) = signals.next().await else { panic!("an announcement") };
    assert!(matches!(&*event, LiveEvent::MessageCreated { record: None, .. }), "{event:?}");
    let told = next(&mut feed).await;
    assert_eq!(json(&told)["message"]["cc"].as_array().unwrap().len(), 45);
}

#[tokio::test]
async fn whether_there_is_a_code_is_known_when_a_mail_is_stored() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    for (text, has_code) in [("hello", false), ("Your code is 493817", true)] {
        let raw = format!("Subject: x\r\n\r\n{text}\r\n");
        let id = bench.deliver_raw(&inbox, "app@example.com", raw.into()).await;
        let row = bench.ports.store.get(&Message::row(id)).await.unwrap().unwrap();
        assert_eq!(Message::of(&row).unwrap().has_code, Some(has_code), "{text}");
    }
    let filter = Filter { has_code: true, ..anything() };
    let waited = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_mins(1)).await;
    let Waited::Found(found) = waited.unwrap() else { panic!("it is there") };
    assert_eq!(found.codes, ["493817"]);
}

/// A stream keeps 64 deletions; those before may be of messages that are marked now, so it asks.
#[tokio::test]
async fn marks_are_told_of_however_much_was_deleted() {
    const MANY: usize = 70;
    let bench = Bench::new().await;
    let inbox = bench.inbox(1_000, None).await;
    let mut ids = Vec::new();
    for number in 0..=MANY {
        ids.push(bench.deliver(&inbox, &number.to_string()).await);
    }
    let kept = ids.pop().unwrap();
    let mut feed = feed(&bench, &inbox).await;
    for id in ids {
        bench.app.messages().delete_many(&bench.by, inbox.id, &[id]).await.unwrap();
        assert_eq!(next(&mut feed).await.name, "message.deleted");
    }
    for is_read in [true, false] {
        let (messages, ids) = (bench.app.messages(), [kept]);
        let marked = messages.set_many_read(&bench.by, inbox.id, &ids, is_read).await;
        assert_eq!(marked.unwrap(), 1);
        let told = json(&next(&mut feed).await)["marked"].clone();
        assert_eq!(told, serde_json::json!({ "ids": [kept], "isRead": is_read }));
    }
}

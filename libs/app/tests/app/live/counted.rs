//! Streams that tell of the counts of other inboxes, too.

use std::time::Duration;

use serde_json::{Value, json};
use trapline_app::{Error, Feed, InboxChange, NewKey, Settings};
use trapline_model::{Access, Inbox, InboxId, Principal};

use crate::support::{Bench, json as payload};

async fn feed(bench: &Bench, by: &Principal, inbox: &Inbox, counts: &[InboxId]) -> Feed {
    let mut feed = bench.app.live().feed(by, inbox.id, None).await.unwrap();
    feed.count(counts).await.unwrap();
    feed
}

/// The inbox of the next event.
async fn updated(feed: &mut Feed) -> Value {
    let event = tokio::time::timeout(Duration::from_mins(5), feed.next()).await;
    let event = event.expect("an event in time").unwrap();
    assert_eq!(event.name, "inbox.updated");
    payload(&event)["inbox"].clone()
}

/// Reads on until an inbox has so many messages, and returns how many events that took.
async fn until(feed: &mut Feed, inbox: &Inbox, messages: u64) -> usize {
    for events in 1.. {
        let told = updated(feed).await;
        assert_eq!(told["id"], json!(inbox.id));
        if told["messageCount"] == messages {
            return events;
        }
    }
    unreachable!("events without end")
}

#[tokio::test]
async fn a_stream_begins_with_what_is_there_and_tells_what_changes() {
    let bench = Bench::new().await;
    let (own, one, two) =
        (bench.inbox(99, None).await, bench.inbox(99, None).await, bench.inbox(99, None).await);
    bench.deliver(&two, "before").await;
    let mut feed = feed(&bench, &bench.by, &own, &[two.id, one.id, two.id]).await;
    for inbox in [&two, &one] {
        let present = bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap();
        assert_eq!(updated(&mut feed).await, serde_json::to_value(present).unwrap());
    }
    let id = bench.deliver(&one, "arrived").await;
    until(&mut feed, &one, 1).await;
    bench.app.messages().set_read(&bench.by, id, true).await.unwrap();
    assert_eq!(updated(&mut feed).await["unreadCount"], 0);
    let change = InboxChange { name: Some("Changed".to_owned()), ..InboxChange::default() };
    bench.app.inboxes().update(&bench.by, two.id, change).await.unwrap();
    assert_eq!(updated(&mut feed).await["name"], "Changed");
    bench.app.messages().empty(&bench.by, two.id).await.unwrap();
    until(&mut feed, &two, 0).await;
    // Of its own inbox it tells each message.
    bench.deliver(&own, "own").await;
    assert_eq!(feed.next().await.unwrap().name, "message.created");
}

#[tokio::test]
async fn however_much_happens_few_events_tell_of_it() {
    let bench = Bench::new().await;
    let (own, other) = (bench.inbox(99, None).await, bench.inbox(99, None).await);
    let mut feed = feed(&bench, &bench.by, &own, &[other.id]).await;
    assert_eq!(updated(&mut feed).await["messageCount"], 0);
    for number in 0..60 {
        bench.deliver(&other, &number.to_string()).await;
    }
    // What was counted last, what is being counted, and what was not counted yet.
    assert!(until(&mut feed, &other, 60).await <= 3);
}

#[tokio::test]
async fn what_is_another_teams_or_gone_is_not_there() {
    let bench = Bench::new().await;
    let (own, one) = (bench.inbox(9, None).await, bench.inbox(9, None).await);
    let others = Principal::system(bench.app.access().create_team("Others").await.unwrap());
    let new = trapline_app::NewInbox::named("Theirs");
    let theirs = bench.app.inboxes().create(&others, new).await.unwrap();
    // Also where somebody of the other team counts it.
    let mut their_feed = feed(&bench, &others, &theirs, &[theirs.id]).await;
    assert_eq!(updated(&mut their_feed).await["name"], "Theirs");
    let mut ours = bench.app.live().feed(&bench.by, own.id, None).await.unwrap();
    let refused = ours.count(&[one.id, theirs.id]).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    let mut ours = feed(&bench, &bench.by, &own, &[one.id]).await;
    assert_eq!(updated(&mut ours).await["id"], json!(one.id));
    bench.app.inboxes().delete(&bench.by, one.id).await.unwrap();
    let refused = ours.count(&[one.id]).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    bench.deliver(&own, "own").await;
    assert_eq!(ours.next().await.unwrap().name, "message.created");
}

#[tokio::test]
async fn who_may_only_read_sees_no_password() {
    let bench = Bench::new().await;
    let (own, other) = (bench.inbox(9, None).await, bench.inbox(9, None).await);
    let new = NewKey { name: "R".to_owned(), access: Access::Read, expires_at: None, value: None };
    let key = bench.app.access().create_key(&bench.by, new).await.unwrap();
    let reader = bench.app.access().authenticate(&key, None).await.unwrap();
    for (by, shown) in [(&bench.by, true), (&reader, false)] {
        let mut feed = feed(&bench, by, &own, &[other.id]).await;
        for _ in 0..2 {
            assert_eq!(updated(&mut feed).await["smtp"]["password"].is_string(), shown);
            bench.deliver(&other, "x").await;
        }
    }
}

/// An inbox is followed once, whoever counts it, and takes a place among the team's streams.
#[tokio::test]
async fn what_is_counted_is_shared_and_bounded() {
    let settings = Settings { max_streams_per_team: 4, ..Settings::default() };
    let bench = Bench::set(settings).await;
    let mut inboxes = Vec::new();
    for _ in 0..4 {
        inboxes.push(bench.inbox(9, None).await);
    }
    let ids: Vec<_> = inboxes.iter().map(|inbox| inbox.id).collect();
    let first = feed(&bench, &bench.by, &inboxes[0], &ids[1..3]).await;
    let mut second = feed(&bench, &bench.by, &inboxes[1], &ids[1..3]).await;
    let refused = second.count(&ids[1..]).await;
    assert!(matches!(refused, Err(Error::TooManyStreams { of_team: true })), "{refused:?}");
    drop((first, second));
    // Each place is free as soon as its task finds that nobody is left.
    let mut third = bench.app.live().feed(&bench.by, ids[0], None).await.unwrap();
    while third.count(&ids[1..]).await.is_err() {
        tokio::task::yield_now().await;
    }
}

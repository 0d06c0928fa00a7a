//! The bound on an inbox's messages, and what readers see at it.

use std::time::Duration;

use crate::{
    support::{Bench, anything, json},
    watched::Watch,
};
use trapline_app::{Error, InboxChange, Waited};

#[tokio::test]
async fn the_oldest_gives_way_the_moment_the_bound_is_passed() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(3, None).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(bench.deliver(&inbox, &format!("m{number}")).await);
        let subjects = bench.subjects(&inbox).await;
        let newest: Vec<_> =
            (0..=number).rev().take(3).map(|number| format!("m{number}")).collect();
        assert_eq!(subjects, newest);
        assert_eq!(bench.list(&inbox).await.total, newest.len() as u64);
        if number >= 3 {
            let evicted = bench.app.messages().get(&bench.by, ids[number - 3]).await;
            assert!(matches!(evicted, Err(Error::NotFound)));
        }
    }
}

#[tokio::test]
async fn messages_that_are_newer_are_counted_once_while_nothing_changes() {
    let watch = Watch::default();
    let bench = Bench::with(|ports| watch.over(ports)).await;
    let inbox = bench.inbox(3, None).await;
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(bench.deliver(&inbox, &format!("m{number}")).await);
    }
    let reads = async |id| {
        watch.all_reads();
        bench.app.messages().get(&bench.by, id).await.unwrap();
        watch.all_reads()
    };
    let with_count = reads(ids[0]).await;
    assert_eq!([reads(ids[0]).await, reads(ids[1]).await], [with_count - 1; 2]);
    let newest = bench.deliver(&inbox, "m3").await;
    assert_eq!(reads(ids[1]).await, with_count);
    assert_eq!(reads(newest).await, with_count - 1);
    let evicted = bench.app.messages().get(&bench.by, ids[0]).await;
    assert!(matches!(evicted, Err(Error::NotFound)));
}

#[tokio::test]
async fn an_eviction_is_told_with_the_ids_that_went() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(2, None).await;
    let first = bench.deliver(&inbox, "first").await;
    bench.deliver(&inbox, "second").await;
    let mut feed = bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    bench.deliver(&inbox, "third").await;
    let created = feed.next().await.unwrap();
    assert_eq!(created.name, "message.created");
    let deleted = feed.next().await.unwrap();
    assert_eq!(
        (deleted.name, &json(&deleted)["ids"][0]),
        ("message.deleted", &first.to_string().into())
    );
}

#[tokio::test]
async fn a_lower_bound_takes_effect_at_once() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    for number in 0..6 {
        bench.deliver(&inbox, &format!("m{number}")).await;
    }
    // What was counted before is of another bound.
    assert_eq!(bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap().message_count, 6);
    let change = InboxChange { max_messages: Some(2), ..InboxChange::default() };
    let changed = bench.app.inboxes().update(&bench.by, inbox.id, change).await.unwrap();
    assert_eq!((changed.message_count, changed.unread_count), (2, 2));
    assert_eq!(bench.subjects(&inbox).await, ["m5", "m4"]);
}

#[tokio::test]
async fn read_marks_follow_the_last_word() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let first = bench.deliver(&inbox, "first").await;
    let second = bench.deliver(&inbox, "second").await;
    let unread = async || bench.app.inboxes().get(&bench.by, inbox.id).await.unwrap().unread_count;
    assert_eq!(unread().await, 2);
    bench.app.messages().set_read(&bench.by, first, true).await.unwrap();
    assert_eq!(unread().await, 1);
    bench.app.messages().mark_all_read(&bench.by, inbox.id).await.unwrap();
    assert_eq!(unread().await, 0);
    let message = bench.app.messages().set_read(&bench.by, second, false).await.unwrap();
    assert!(!message.is_read);
    bench.deliver(&inbox, "third").await;
    assert_eq!(unread().await, 2);
    let page = bench.list(&inbox).await;
    let read: Vec<_> = page.messages.iter().map(|message| message.is_read).collect();
    assert_eq!(read, [false, false, true]);
}

#[tokio::test]
async fn a_timeout_tells_what_was_nearly_it() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let id = bench.deliver(&inbox, "Welcome").await;
    let filter = trapline_app::Filter {
        subject: Some("reset".to_owned()),
        to: Some("ADA@".to_owned()),
        ..anything()
    };
    let waited =
        bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_millis(20)).await;
    let Waited::TimedOut(misses) = waited.unwrap() else { panic!("nothing matches") };
    assert_eq!((misses.len(), misses[0].id), (1, id));
    assert_eq!(misses[0].why, "subject \"Welcome\" does not contain \"reset\"");
}

//! Streams that go on, and what they read for it.

use std::{sync::atomic::Ordering, time::Duration};

use trapline_app::Feed;
use trapline_model::Inbox;

use super::doubles::Reads;
use crate::{
    doubles::as_in_a_cluster,
    support::{Bench, json},
};

async fn feed(bench: &Bench, inbox: &Inbox, last: Option<&str>) -> Feed {
    bench.app.live().feed(&bench.by, inbox.id, last).await.unwrap()
}

async fn subject(feed: &mut Feed) -> String {
    let event = tokio::time::timeout(Duration::from_secs(30), feed.next()).await;
    let event = event.expect("an event in time").unwrap();
    assert_eq!(event.name, "message.created");
    json(&event)["message"]["subject"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_was_missed_is_read_as_the_client_takes_it() {
    let reads = Reads::default();
    let bench = Bench::with(|ports| reads.count(ports)).await;
    let inbox = bench.inbox(1_000, None).await;
    for number in 0..150 {
        bench.deliver(&inbox, &format!("m{number}")).await;
    }
    let mut feed = feed(&bench, &inbox, Some("everything")).await;
    assert_eq!(subject(&mut feed).await, "m0");
    assert!(reads.all.load(Ordering::Relaxed) <= 32);
    for number in 1..150 {
        assert_eq!(subject(&mut feed).await, format!("m{number}"));
    }
    assert!(reads.most.load(Ordering::Relaxed) <= 32);
    bench.deliver(&inbox, "live").await;
    assert_eq!(subject(&mut feed).await, "live");
}

/// In one process, and where several share the store.
#[tokio::test]
async fn a_stream_that_is_lost_before_its_first_event_misses_nothing() {
    for shared in [false, true] {
        let bench = Bench::with(|ports| {
            if shared {
                as_in_a_cluster(ports);
            }
        })
        .await;
        let inbox = bench.inbox(10, None).await;
        for before in [0, 2] {
            for number in 0..before {
                bench.deliver(&inbox, &format!("known {number}")).await;
            }
            let position = feed(&bench, &inbox, None).await.position();
            bench.deliver(&inbox, "first").await;
            bench.deliver(&inbox, "second").await;
            let mut feed = feed(&bench, &inbox, Some(&position)).await;
            assert_eq!(subject(&mut feed).await, "first");
            assert_eq!(subject(&mut feed).await, "second");
            bench.deliver(&inbox, "live").await;
            assert_eq!(subject(&mut feed).await, "live");
            bench.app.messages().empty(&bench.by, inbox.id).await.unwrap();
            let emptied = feed.next().await.unwrap();
            assert_eq!((emptied.name, json(&emptied)["all"] == true), ("message.deleted", true));
        }
    }
}

#[tokio::test]
async fn who_takes_events_too_slowly_gets_each_once_all_the_same() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(1_000, None).await;
    let mut feed = feed(&bench, &inbox, None).await;
    // More than the bus keeps for one listener.
    for number in 0..100 {
        bench.deliver(&inbox, &format!("m{number}")).await;
    }
    for number in 0..100 {
        assert_eq!(subject(&mut feed).await, format!("m{number}"));
    }
    assert_eq!(feed.next().await.unwrap().name, "inbox.updated");
    bench.deliver(&inbox, "live").await;
    assert_eq!(subject(&mut feed).await, "live");
}

#[tokio::test]
async fn streams_that_tell_of_the_same_share_its_bytes() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let mut feeds = [feed(&bench, &inbox, None).await, feed(&bench, &inbox, None).await];
    bench.deliver(&inbox, "one").await;
    let [one, two] = &mut feeds;
    let (one, two) = (one.next().await.unwrap().data, two.next().await.unwrap().data);
    assert_eq!(one.as_ptr(), two.as_ptr());
}

//! What was stored and not announced is found, and finding it costs next to nothing until then.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::task::JoinHandle;
use trapline_app::{Error, Feed, Filter, Waited};
use trapline_model::Inbox;
use trapline_store::LiveEvent;

use super::{
    doubles::{Gate, Lossy, Reads, SubscriptionWatch},
    park,
};
use crate::{
    doubles::as_in_a_cluster,
    support::{Bench, anything, json},
};

/// How often a process looks for those that store mail.
const WATCH: Duration = Duration::from_secs(5);

/// Processes that share a store, and a bus that loses announcements.
async fn bench(reads: &Reads, told: &SubscriptionWatch, lossy: &Lossy) -> Bench {
    Bench::with(|ports| {
        as_in_a_cluster(ports);
        reads.count(ports);
        lossy.replace(ports);
        told.watch(ports);
    })
    .await
}

/// Lets time go by until the process has looked once for those that store mail.
async fn watch(bench: &Bench, reads: &Reads) {
    let before = reads.watches.load(Ordering::SeqCst);
    let seen = async {
        while reads.watches.load(Ordering::SeqCst) == before {
            bench.clock.advance(WATCH);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), seen).await.expect("a look in time");
}

async fn found(wait: JoinHandle<Result<Waited, Error>>) -> String {
    let ended = tokio::time::timeout(Duration::from_mins(1), wait).await.expect("an answer");
    let Waited::Found(found) = ended.unwrap().unwrap() else { panic!("it is there") };
    found.subject
}

async fn told_of(feed: &mut Feed) -> String {
    let event = tokio::time::timeout(Duration::from_mins(1), feed.next()).await;
    let event = event.expect("an event in time").unwrap();
    assert_eq!(event.name, "message.created");
    json(&event)["message"]["subject"].as_str().unwrap().to_owned()
}

async fn follow(bench: &Bench, inbox: &Inbox) -> Feed {
    bench.app.live().feed(&bench.by, inbox.id, None).await.unwrap()
}

#[tokio::test]
async fn what_a_killed_process_stored_is_found() {
    let (reads, told, lossy) = (Reads::default(), SubscriptionWatch::default(), Lossy::default());
    let bench = bench(&reads, &told, &lossy).await;
    let inbox = bench.inbox(100, None).await;
    bench.app.live().send_writer_heartbeat("killed").await;
    let mut feed = follow(&bench, &inbox).await;
    let wait = park(&bench, &inbox);
    told.subscribed().await;
    told.subscribed().await;
    bench.deliver(&inbox, "unannounced").await;
    // One look that sees it, and three at the same heartbeat.
    for _ in 0..4 {
        assert!(!wait.is_finished());
        watch(&bench, &reads).await;
    }
    assert_eq!(found(wait).await, "unannounced");
    assert_eq!(told_of(&mut feed).await, "unannounced");
}

#[tokio::test]
async fn what_a_process_gave_up_announcing_is_found_at_the_next_look() {
    let (reads, told, lossy) = (Reads::default(), SubscriptionWatch::default(), Lossy::default());
    let bench = bench(&reads, &told, &lossy).await;
    let inbox = bench.inbox(100, None).await;
    bench.app.live().send_writer_heartbeat("alive").await;
    let mut feed = follow(&bench, &inbox).await;
    let wait = park(&bench, &inbox);
    told.subscribed().await;
    told.subscribed().await;
    watch(&bench, &reads).await;
    bench.deliver(&inbox, "unannounced").await;
    lossy.given_up.store(1, Ordering::SeqCst);
    bench.app.live().send_writer_heartbeat("alive").await;
    watch(&bench, &reads).await;
    assert_eq!(found(wait).await, "unannounced");
    assert_eq!(told_of(&mut feed).await, "unannounced");
}

/// In one process nothing is read at all; among several, who stores mail is asked for every 5 s.
#[tokio::test]
async fn parked_clients_read_nothing_however_many_they_are() {
    for clients in [1, 30] {
        let (reads, told, lossy) =
            (Reads::default(), SubscriptionWatch::default(), Lossy::default());
        let shared = bench(&reads, &told, &lossy).await;
        let (alone_reads, alone_told) = (Reads::default(), SubscriptionWatch::default());
        let alone = Bench::with(|ports| {
            alone_reads.count(ports);
            alone_told.watch(ports);
        })
        .await;
        park_many(&shared, &told, &reads, clients).await;
        park_many(&alone, &alone_told, &alone_reads, clients).await;
        // What was counted of the mail before is written now, which reads a row once.
        shared.app.usage().flush().await;
        alone.app.usage().flush().await;
        let before = (reads.asked(), reads.watches.load(Ordering::SeqCst), alone_reads.asked());
        for _ in 0..12 {
            shared.app.live().send_writer_heartbeat("alive").await;
            watch(&shared, &reads).await;
            alone.clock.advance(WATCH);
        }
        assert_eq!(reads.watches.load(Ordering::SeqCst) - before.1, 12);
        assert_eq!(reads.asked() - before.0, 12);
        assert_eq!(alone_reads.asked(), before.2);
    }
}

/// A stream and a wait in each of so many inboxes, all of which have a message that the wait is not for.
async fn park_many(bench: &Bench, told: &SubscriptionWatch, reads: &Reads, inboxes: usize) {
    for number in 0..inboxes {
        let inbox = bench.inbox(100, None).await;
        bench.deliver(&inbox, &format!("m{number}")).await;
        let mut feed = follow(bench, &inbox).await;
        tokio::spawn(async move { feed.next().await });
        let (app, by) = (bench.app.clone(), bench.by);
        let filter = Filter { subject: Some("another".to_owned()), ..anything() };
        tokio::spawn(async move {
            app.live().wait(&by, inbox.id, &filter, Duration::from_mins(2)).await
        });
        told.subscribed().await;
        told.subscribed().await;
    }
    let looked = async {
        // Mail and streams read too: all have looked when nobody reads any more.
        let count = || (reads.all.load(Ordering::SeqCst), reads.asked());
        let mut before = (0, 0);
        while before.0 < inboxes || count() != before {
            before = count();
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), looked).await.expect("every wait looks");
}

#[tokio::test]
async fn what_comes_while_a_stream_opens_is_told() {
    for shared in [false, true] {
        let (told, gate) = (SubscriptionWatch::default(), Gate::default());
        let bench = Bench::with(|ports| {
            if shared {
                as_in_a_cluster(ports);
            }
            gate.hold(ports);
            told.watch(ports);
        })
        .await;
        let inbox = bench.inbox(100, None).await;
        bench.deliver(&inbox, "before").await;
        let opening = follow(&bench, &inbox);
        let during = async {
            gate.reached().await;
            bench.deliver(&inbox, "during").await;
            gate.open();
        };
        let (mut feed, ()) = tokio::join!(opening, during);
        let position = feed.position();
        assert_eq!(told_of(&mut feed).await, "during");
        bench.deliver(&inbox, "after").await;
        assert_eq!(told_of(&mut feed).await, "after");
        // And a client that was told of none of it comes back.
        gate.open();
        let app = &bench.app;
        let again = app.live().feed(&bench.by, inbox.id, Some(&position)).await;
        let mut again = again.unwrap();
        assert_eq!(told_of(&mut again).await, "during");
        assert_eq!(told_of(&mut again).await, "after");
    }
}

#[tokio::test]
async fn the_message_that_a_client_names_is_not_told_when_it_is_announced_late() {
    let bench = Bench::with(|ports| {
        as_in_a_cluster(ports);
    })
    .await;
    let inbox = bench.inbox(100, None).await;
    let named = bench.deliver(&inbox, "named").await;
    let last = named.to_string();
    let mut feed = bench.app.live().feed(&bench.by, inbox.id, Some(&last)).await.unwrap();
    let (from, to, subject) = (Vec::new(), Vec::new(), String::new());
    let late =
        LiveEvent::MessageCreated { id: named.uuid, from, to, subject, cut: false, record: None };
    bench.ports.bus.publish(inbox.id, late).await.unwrap();
    bench.deliver(&inbox, "after").await;
    for subject in ["after", "later"] {
        assert_eq!(told_of(&mut feed).await, subject);
        bench.deliver(&inbox, "later").await;
    }
}

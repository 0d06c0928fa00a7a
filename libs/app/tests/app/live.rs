//! Waits and event streams: what they find, and what they read for it.

mod announced;
mod counted;
mod doubles;
mod feeds;
mod long;
mod unannounced;

use std::time::Duration;

use trapline_app::{Error, Filter, Settings, Waited};
use trapline_model::{Inbox, Principal};

use crate::support::{Bench, anything};
use doubles::{Silent, SubscriptionWatch};

/// A parked wait for anything in this inbox.
fn park(bench: &Bench, inbox: &Inbox) -> tokio::task::JoinHandle<Result<Waited, Error>> {
    let (app, by, id) = (bench.app.clone(), bench.by, inbox.id);
    tokio::spawn(async move { app.live().wait(&by, id, &anything(), Duration::from_mins(2)).await })
}

#[tokio::test]
async fn a_wait_ends_with_its_inbox() {
    let told = SubscriptionWatch::default();
    let bench = Bench::with(|ports| told.watch(ports)).await;
    let inbox = bench.inbox(10, None).await;
    let wait = park(&bench, &inbox);
    told.subscribed().await;
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    assert!(matches!(wait.await.unwrap(), Err(Error::NotFound)));
}

#[tokio::test]
async fn a_wait_does_not_outlive_its_inbox() {
    let told = SubscriptionWatch::default();
    let bench = Bench::with(|ports| told.watch(ports)).await;
    let inbox = bench.inbox(10, Some(Duration::from_millis(200))).await;
    let wait = park(&bench, &inbox);
    told.subscribed().await;
    bench.clock.advance(Duration::from_secs(1));
    let ended = wait.await.unwrap();
    assert!(matches!(ended, Err(Error::NotFound)), "{ended:?}");
}

#[tokio::test]
async fn the_time_of_a_wait_holds_while_it_looks_into_messages() {
    let bench = Bench::with(Silent::replace).await;
    let inbox = bench.inbox(10, None).await;
    bench.deliver(&inbox, "Your code").await;
    let filter = Filter { has_code: true, ..anything() };
    let wait = bench.app.live().wait(&bench.by, inbox.id, &filter, Duration::from_millis(50));
    let ended = tokio::time::timeout(Duration::from_secs(30), wait).await.expect("an end");
    assert!(matches!(ended, Ok(Waited::TimedOut(_))), "{ended:?}");
}

#[tokio::test]
async fn one_team_leaves_room_for_others() {
    let settings = Settings { max_streams: 4, max_streams_per_team: 2, ..Settings::default() };
    let bench = Bench::set(settings).await;
    let inbox = bench.inbox(10, None).await;
    let app = &bench.app;
    let first = app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    let _second = app.live().feed(&bench.by, inbox.id, None).await.unwrap();
    let third = app.live().feed(&bench.by, inbox.id, None).await.err();
    assert!(matches!(third, Some(Error::TooManyStreams { of_team: true })), "{third:?}");
    let other = Principal::system(app.access().create_team("Other").await.unwrap());
    let theirs =
        app.inboxes().create(&other, trapline_app::NewInbox::named("theirs")).await.unwrap();
    let _theirs = app.live().feed(&other, theirs.id, None).await.unwrap();
    drop(first);
    let waited = app.live().wait(&bench.by, inbox.id, &anything(), Duration::from_millis(1)).await;
    assert!(matches!(waited, Ok(Waited::TimedOut(_))), "{waited:?}");
}

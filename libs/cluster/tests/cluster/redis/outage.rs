//! The server goes away and comes back.

use std::{collections::HashSet, time::Duration};

use bytes::Bytes;
use futures_util::future::join_all;
use trapline_store::{
    Cache, Clock, LiveEvent, PortError, Rate, RateDecision, Result, Signal, SignalStream,
};

use super::servers::{Server, connect, event, hears, inbox, next, publish};

/// More than any call may take.
const BOUND: Duration = Duration::from_secs(10);

const RATE: Rate = Rate { burst: 3, per: Duration::from_mins(1) };

async fn get(cache: &dyn Cache, key: &str) -> Result<Option<Bytes>> {
    Ok(cache.get_many(&[key.to_owned()]).await?.remove(0))
}

async fn version(cache: &dyn Cache, key: &str) -> u64 {
    cache.versions(&[key.to_owned()]).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_restart_is_a_gap_and_then_all_goes_on() {
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    let mut signals = bus.subscribe(inbox(1)).await.unwrap();
    publish(&*bus, inbox(1), event(1)).await;
    hears(&mut signals, &event(1)).await;
    for round in 2..4 {
        server.kill();
        server.restart();
        assert_eq!(next(&mut signals).await, Signal::Gap);
        publish(&*bus, inbox(1), event(round)).await;
        hears(&mut signals, &event(round)).await;
    }
}

#[tokio::test]
async fn who_subscribes_while_redis_is_away_starts_with_a_gap() {
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    server.kill();
    let subscribing = tokio::time::timeout(BOUND, bus.subscribe(inbox(1))).await;
    let mut signals = subscribing.expect("an answer in time").unwrap();
    server.restart();
    assert_eq!(next(&mut signals).await, Signal::Gap);
    publish(&*bus, inbox(1), event(1)).await;
    hears(&mut signals, &event(1)).await;
}

#[tokio::test]
async fn calls_fail_in_time_and_work_again() {
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let (limiter, cache) = (redis.limiter(), redis.cache());
    assert_eq!(limiter.take("key", RATE).await.unwrap(), RateDecision::Allowed { remaining: 2 });
    server.kill();
    for _ in 0..3 {
        let taken = tokio::time::timeout(BOUND, limiter.take("key", RATE)).await;
        let error = taken.expect("an answer in time").unwrap_err();
        assert!(matches!(error, PortError::Unavailable(_) | PortError::Timeout), "{error}");
        assert!(redis.ping().await.is_err() && get(&*cache, "key").await.is_err());
    }
    server.restart();
    while redis.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The server has forgotten the scripts too.
    assert_eq!(limiter.take("key", RATE).await.unwrap(), RateDecision::Allowed { remaining: 2 });
    assert_eq!(get(&*cache, "key").await.unwrap(), None);
}

#[tokio::test]
async fn a_server_that_hangs_is_a_timeout() {
    let server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    assert_eq!(server.ask(&["client", "pause", "60000", "all"]).trim(), "OK");
    let calls = (0..20).map(|_| async {
        let limiter = redis.limiter();
        tokio::time::timeout(BOUND, limiter.take("key", RATE)).await
    });
    for taken in join_all(calls).await {
        let error = taken.expect("an answer in time").unwrap_err();
        assert!(matches!(error, PortError::Timeout), "{error:?}");
    }
}

#[tokio::test]
async fn whoever_listens_hears_of_a_gap_where_an_event_was_left_out() {
    let server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    let mut signals = bus.subscribe(inbox(1)).await.unwrap();
    bus.left_out(inbox(1));
    assert_eq!(next(&mut signals).await, Signal::Gap);
}

async fn marks(cache: &dyn Cache) -> Vec<u64> {
    vec![
        version(cache, "never changed").await,
        cache.bump("mark").await.unwrap(),
        cache.bump("mark").await.unwrap(),
    ]
}

#[tokio::test]
async fn no_mark_repeats_when_redis_forgets() {
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let cache = redis.cache();
    let mut all = marks(&*cache).await;
    for _ in 0..3 {
        assert_eq!(server.ask(&["flushall"]).trim(), "OK");
        all.extend(marks(&*cache).await);
        assert_eq!(version(&*cache, "mark").await, all[all.len() - 1]);
    }
    server.kill();
    server.restart();
    while redis.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    all.extend(marks(&*cache).await);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 15);
}

#[tokio::test]
async fn all_keys_expire() {
    let server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let cache = redis.cache();
    marks(&*cache).await;
    cache.put("key", "value".into(), Duration::MAX).await.unwrap();
    cache.put("short", "value".into(), Duration::ZERO).await.unwrap();
    redis.limiter().take("key", RATE).await.unwrap();
    for key in server.ask(&["keys", "*"]).lines() {
        let life: i64 = server.ask(&["pttl", key]).trim().parse().unwrap();
        assert_ne!(life, -1, "{key}");
    }
    let too_large = cache.put("key", vec![0; (1 << 20) + 1].into(), Duration::MAX).await;
    assert!(matches!(too_large, Err(PortError::Misuse(_))));
}

#[tokio::test]
async fn ten_thousand_inboxes_are_subscribed_again() {
    const INBOXES: u128 = 10_000;
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    let subscribing = (0..INBOXES).map(|number| bus.subscribe(inbox(number)));
    let mut all: Vec<_> =
        join_all(subscribing).await.into_iter().collect::<Result<_, _>>().unwrap();
    // On a busy machine some are confirmed later than a subscriber waits, and hear of a gap for it.
    while server_count(&server) < all.len() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.kill();
    server.restart();
    for (number, signals) in (0..).zip(&mut all) {
        assert_eq!(next(signals).await, Signal::Gap);
        publish(&*bus, inbox(number), event(number)).await;
        hears_after_gaps(signals, &event(number)).await;
    }
    drop(all);
    while server_count(&server) > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_bus_that_cannot_tell_of_an_event_gives_up_and_says_so() {
    let mut server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    assert!(bus.publish(inbox(1), event(1)).await.is_ok());
    server.kill();
    assert!(bus.publish(inbox(1), event(2)).await.is_err());
    assert_eq!(bus.given_up(), 0);
    tokio::time::pause();
    while bus.given_up() == 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn hears_after_gaps(signals: &mut SignalStream, event: &LiveEvent) {
    loop {
        match next(signals).await {
            Signal::Gap | Signal::Lagged => {}
            Signal::Event(heard) => return assert_eq!(*heard, *event),
        }
    }
}

fn server_count(server: &Server) -> usize {
    server.ask(&["pubsub", "channels"]).lines().filter(|line| !line.is_empty()).count()
}

#[tokio::test]
async fn coming_and_going_at_once_loses_nothing() {
    let server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let bus = redis.bus();
    for round in 0..300 {
        let mut signals = bus.subscribe(inbox(1)).await.unwrap();
        if round % 3 > 0 {
            bus.publish(inbox(1), event(round)).await.unwrap();
            hears(&mut signals, &event(round)).await;
        }
    }
}

#[tokio::test]
async fn the_bus_takes_its_connection_along() {
    let server = Server::start();
    let redis = connect(&server.url(), Clock::system()).await;
    let mut signals = redis.bus().subscribe(inbox(1)).await.unwrap();
    assert_eq!(server_count(&server), 1);
    drop(redis);
    let end = tokio::time::timeout(BOUND, futures_util::StreamExt::next(&mut signals)).await;
    assert_eq!(end.expect("an end in time"), None);
    while server_count(&server) > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_mark_ahead_of_the_clock_goes_on_from_there() {
    const AHEAD: u64 = 9_000_000_000_000_000;
    let server = Server::start();
    let cache = connect(&server.url(), Clock::system()).await.cache();
    server.ask(&["set", "test:mark:key", &AHEAD.to_string()]);
    assert_eq!(version(&*cache, "key").await, AHEAD);
    assert_eq!(cache.bump("key").await.unwrap(), AHEAD + 1);
    assert_eq!(cache.bump("key").await.unwrap(), AHEAD + 2);
    assert_eq!(version(&*cache, "key").await, AHEAD + 2);
}

//! A Redis Cluster of three servers.

use std::{process::Command, time::Duration};

use tempfile::TempDir;
use trapline_store::{
    Clock, Signal,
    conformance::{Harness as _, bus, cache, limiter},
};

use super::{
    harness::RedisHarness,
    servers::{Server, connect, event, free_port, hears, inbox, next, publish},
};

fn member() -> Server {
    let (port, bus) = (free_port(), free_port());
    let (port_text, bus) = (port.to_string(), bus.to_string());
    let arguments = [
        "--port",
        &port_text,
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        &bus,
        "--cluster-node-timeout",
        "2000",
        "--cluster-require-full-coverage",
        "no",
    ];
    Server::with(port, TempDir::new().unwrap(), &arguments)
}

/// Three servers that share the slots.
fn cluster() -> Vec<Server> {
    let servers: Vec<_> = (0..3).map(|_| member()).collect();
    let hosts = servers.iter().map(|server| format!("127.0.0.1:{}", server.port));
    let created = Command::new("redis-cli")
        .args(["--cluster-yes", "--cluster", "create"])
        .args(hosts)
        .output()
        .expect("the program redis-cli");
    assert!(created.status.success(), "{created:?}");
    for server in &servers {
        while !server.ask(&["cluster", "info"]).contains("cluster_state:ok") {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    servers
}

fn url(servers: &[Server]) -> String {
    let hosts: Vec<_> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
    format!("redis://{}?cluster=true", hosts.join(","))
}

#[tokio::test]
async fn a_cluster_passes_the_suite() {
    let servers = cluster();
    let h = RedisHarness::new(&url(&servers)).await;
    bus::an_event_is_heard(&h).await;
    bus::other_inboxes_are_not(&h).await;
    bus::every_subscriber_hears(&h).await;
    bus::nothing_from_before(&h).await;
    bus::a_dropped_stream_ends(&h).await;
    bus::a_slow_subscriber_is_told(&h).await;
    limiter::a_burst_then_nothing(&h).await;
    limiter::regained_with_time(&h).await;
    limiter::keys_are_apart(&h).await;
    cache::put_and_get(&h).await;
    cache::gone_after_its_time(&h).await;
    cache::the_last_put_counts(&h).await;
    cache::a_mark_is_stable(&h).await;
    cache::a_bump_never_repeats(&h).await;
    for mark in 0..30 {
        h.ports().cache.bump(&mark.to_string()).await.unwrap();
    }
    assert!(servers.iter().all(|server| server.ask(&["dbsize"]).trim() != "0"), "a share is empty");
}

#[tokio::test]
async fn one_server_away_is_a_gap_and_the_others_go_on() {
    const INBOXES: u128 = 30;
    let mut servers = cluster();
    let redis = connect(&url(&servers), Clock::system()).await;
    let bus = redis.bus();
    let mut all = Vec::new();
    for number in 0..INBOXES {
        all.push(bus.subscribe(inbox(number)).await.unwrap());
    }
    servers[0].kill();
    let channels: Vec<_> = servers[1..].iter().map(shard_channels).collect();
    let served =
        |number: u128| channels.iter().any(|all| all.contains(&inbox(number).0.to_string()));
    let living: Vec<_> = (0..INBOXES).filter(|number| served(*number)).collect();
    assert!(!living.is_empty() && living.len() < 30, "{living:?}");
    for (number, signals) in (0..).zip(&mut all).filter(|(number, _)| served(*number)) {
        assert_eq!(next(signals).await, Signal::Gap);
        publish(&*bus, inbox(number), event(number)).await;
        hears(signals, &event(number)).await;
    }
    servers[0].restart();
    for (number, signals) in (0..).zip(&mut all).filter(|(number, _)| !served(*number)) {
        assert_eq!(next(signals).await, Signal::Gap);
        publish(&*bus, inbox(number), event(number)).await;
        hears(signals, &event(number)).await;
    }
}

fn shard_channels(server: &Server) -> String {
    server.ask(&["pubsub", "shardchannels"])
}

//! What SIGTERM does to whoever is connected.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use trapline_tests::{Deployment, Mail, Smtp, deliver, dot_stuff, eventually};

/// The time that the product promises to end in.
const END: Duration = Duration::from_secs(30);

/// Waits until so many waits, and as many streams, are parked.
async fn parked(server: &Deployment, count: u64) {
    eventually("parked waits and streams", async || {
        let waits = server.metric("trapline_waits_parked").await;
        let streams = server.metric("trapline_event_streams").await;
        ([waits, streams] == [count; 2]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn parked_waits_and_streams_end_with_the_server() {
    let mut server = Deployment::with(&["--metrics-token", "metrics"]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut waits = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..20 {
        let (rest, path) = (rest.clone(), inbox.path("/messages/wait?timeout=120"));
        waits.push(tokio::spawn(async move { rest.get(&path).await }));
        streams.push(server.rest().events(&inbox.path("/events"), None).await);
    }
    parked(&server, 20).await;
    let mut idle = Smtp::hello(server.smtp()[0]).await;
    let began = Instant::now();
    server.terminate();
    for answer in join_all(waits).await {
        answer.unwrap().error(503);
    }
    for stream in streams {
        assert_eq!(stream.rest().await, []);
    }
    assert_eq!(idle.closed().await, [421]);
    let status = tokio::task::spawn_blocking(move || server.ended()).await.unwrap();
    assert!(status.success(), "{status}");
    assert!(began.elapsed() < END, "it took {:?}", began.elapsed());
}

#[tokio::test]
async fn a_message_that_is_coming_in_is_still_taken() {
    let mut server = Deployment::start();
    let inbox = server.rest().inbox().await;
    let before = deliver(&server, &inbox, &Mail::new("before", "x")).await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.begin("a@x.test", &["b@x.test"]).await;
    let raw = Mail::new("during", &"line\n".repeat(1_000)).bytes();
    let wire = dot_stuff(&raw);
    let (start, end) = wire.split_at(wire.len() / 2);
    smtp.write(start).await;
    let mut idle = Smtp::hello(server.smtp()[0]).await;
    server.terminate();
    // Idle sessions end at once, and nobody new comes in.
    assert_eq!(idle.closed().await, [421]);
    eventually("a closed port", async || {
        tokio::net::TcpStream::connect(server.smtp()[0]).await.err()
    })
    .await;
    smtp.write(end).await;
    let during = smtp.expect(250).await.ids().remove(0);
    assert_eq!(smtp.closed().await, [421]);
    let server = tokio::task::spawn_blocking(move || {
        assert!(server.ended().success());
        server.restart();
        server
    });
    let server = server.await.unwrap();
    let rest = server.rest();
    assert_eq!(rest.raw(&during).await, raw);
    assert_eq!(rest.message(&before).await["subject"], "before");
    assert_eq!(rest.subjects(&inbox).await.0, 2);
}

#[tokio::test]
async fn a_message_that_never_ends_does_not_stop_the_end() {
    let mut server = Deployment::with(&["--drain", "1s"]);
    let inbox = server.rest().inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.begin("a@x.test", &["b@x.test"]).await;
    smtp.write(b"Subject: for ever\r\n").await;
    server.terminate();
    let server = tokio::task::spawn_blocking(move || {
        assert!(server.ended().success());
        server.restart();
        server
    });
    let server = server.await.unwrap();
    assert_eq!(server.rest().subjects(&inbox).await.0, 0);
}

//! Bounds on connections, commands and time.

use std::time::Duration;

use trapline_smtp::{Observation, Refusal};

use crate::{
    client::Client,
    recorder::{Running, config},
};

/// A limit that a client is to pass; no client of these tests has to keep within it.
const BRIEF: Duration = Duration::from_millis(50);
/// A limit that one has to keep within, on a slow machine too.
const LONG: Duration = Duration::from_secs(1);

/// Sends `octets` every tenth of [`BRIEF`] until the server closes, or for ever as it seems.
async fn trickle(client: &mut Client, octets: &str) {
    for _ in 0..1000 {
        if client.try_send(octets).await.is_err() {
            break;
        }
        tokio::time::sleep(BRIEF / 10).await;
    }
}

#[tokio::test]
async fn connections_are_bounded() {
    let mut config = config();
    config.limits.connections = 2;
    let running = Running::new(config);
    let (_first, mut second) = (running.connect().await, running.connect().await);
    let mut third = Client::connect(running.address).await;
    assert!(third.reply().await.starts_with("421 4.7.0 "));
    assert_eq!(third.rest().await, "");
    assert!(running.recorder.saw(Observation::ConnectionRefused(Refusal::Connections)));
    second.converse(&[("QUIT", "221")]).await;
    second.rest().await;
    drop(second);
    loop {
        let reply = Client::connect(running.address).await.reply().await;
        if reply.starts_with("220 ") {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn connections_from_one_address_are_bounded() {
    let mut config = config();
    config.limits.per_address = 1;
    let running = Running::new(config);
    let _first = running.connect().await;
    assert!(Client::connect(running.address).await.reply().await.starts_with("421 4.7.0 "));
    assert!(running.recorder.saw(Observation::ConnectionRefused(Refusal::PerAddress)));
}

#[tokio::test]
async fn recipients_are_bounded() {
    let mut config = config();
    config.limits.recipients = 2;
    let running = Running::new(config);
    let mut client = running.hello().await;
    client.envelope().await;
    client.converse(&[("RCPT TO:<b@d.test>", "250"), ("RCPT TO:<c@d.test>", "452 4.5.3")]).await;
    client.converse(&[("DATA", "354"), (".", "250")]).await;
}

/// The lists of one client's sessions share its part of the memory, and what ends gives it back.
#[tokio::test]
async fn lists_of_recipients_take_bounded_memory() {
    let mut config = config();
    config.limits.message_size = 100_000;
    config.limits.memory = 400_000;
    let running = Running::new(config);
    let mut sessions = Vec::new();
    let lines = (0..100).map(|number| format!("RCPT TO:<{number}@d.test>\r\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let mut refused = 0;
    while refused == 0 && sessions.len() < 20 {
        let mut client = running.hello().await;
        client.envelope().await;
        client.send(&lines).await;
        for _ in 0..100 {
            refused += usize::from(client.reply().await.starts_with("452 4.3.1 "));
        }
        sessions.push(client);
    }
    assert!(refused > 0 && sessions.len() > 1, "{} sessions", sessions.len());
    let mut ordinary = running.hello().await;
    ordinary.envelope().await;
    ordinary.converse(&[("RCPT TO:<b@d.test>", "250"), ("DATA", "354"), (".", "250")]).await;
    for mut client in sessions.drain(..) {
        client.converse(&[("RSET", "250")]).await;
    }
    ordinary.envelope().await;
    ordinary.send(&lines).await;
    for _ in 0..100 {
        assert!(ordinary.reply().await.starts_with("250"));
    }
}

#[tokio::test]
async fn mistakes_are_bounded() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    client.send("MISTAKE\r\n".repeat(1000)).await;
    let rest = client.rest().await;
    assert_eq!(rest.matches("500 5.5.1").count(), 20);
    assert!(rest.lines().last().unwrap().starts_with("421 4.7.0 "));
}

#[tokio::test]
async fn an_endless_line_is_cut() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    // The server may close before it has taken all of it.
    client.try_send(vec![b'x'; 200_000]).await.ok();
    let rest = client.rest().await;
    let codes: String = rest.lines().map(|line| &line[..4]).collect();
    assert_eq!(codes, "500 421 ");
}

#[tokio::test]
async fn a_silent_client_is_cut() {
    let mut config = config();
    config.limits.idle_before_auth = BRIEF;
    let running = Running::new(config);
    let mut client = running.connect().await;
    assert!(client.reply().await.starts_with("421 4.4.2 "));
    assert!(running.recorder.saw(Observation::TimedOut));
}

#[tokio::test]
async fn a_silent_client_that_signed_in_has_longer() {
    let mut config = config();
    config.limits.idle_before_auth = LONG;
    let running = Running::new(config);
    let mut client = running.hello().await;
    client.converse(&[("AUTH PLAIN AGFkYQBzZWNyZXQ=", "235")]).await;
    tokio::time::sleep(LONG + BRIEF).await;
    client.converse(&[("NOOP", "250")]).await;
}

#[tokio::test]
async fn a_client_that_never_ends_a_line_is_cut() {
    let mut config = config();
    config.limits.idle_before_auth = BRIEF;
    let running = Running::new(config);
    let mut client = running.connect().await;
    trickle(&mut client, "x").await;
    assert!(running.recorder.saw(Observation::TimedOut));
}

#[tokio::test]
async fn an_old_session_is_cut_between_commands() {
    let mut config = config();
    config.limits.session_total = BRIEF;
    let running = Running::new(config);
    let mut client = running.connect().await;
    trickle(&mut client, "NOOP\r\n").await;
    assert!(running.recorder.saw(Observation::TimedOut));
}

#[tokio::test]
async fn a_mail_that_stalls_is_cut() {
    let mut config = config();
    config.limits.data_idle = BRIEF;
    let running = Running::new(config);
    let mut client = running.data().await;
    assert!(client.ask("half a mail\r\n").await.starts_with("421 4.4.2 "));
    assert_eq!(client.rest().await, "");
    assert!(running.recorder.bodies().is_empty());
    assert_eq!(running.server.memory_reserved(), 0);
}

#[tokio::test]
async fn a_mail_that_trickles_is_cut() {
    let mut config = config();
    config.limits.data_total = 2 * BRIEF;
    let running = Running::new(config);
    let mut client = running.data().await;
    trickle(&mut client, "x").await;
    assert!(running.recorder.saw(Observation::TimedOut));
    assert!(running.recorder.bodies().is_empty());
}

#[tokio::test]
async fn a_client_that_takes_no_replies_is_cut() {
    let mut config = config();
    config.limits.write = BRIEF;
    let running = Running::new(config);
    let mut client = running.hello().await;
    let help = "HELP\r\n".repeat(10_000);
    while client.try_send(&help).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

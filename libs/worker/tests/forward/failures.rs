//! Relays that are away, slow, or refuse.

use std::{net::TcpListener, time::Duration};

use trapline_model::ForwardStatus;
use trapline_relay_testkit::MailServer;
use trapline_worker::RelayOptions;

use crate::bench::{Bench, arrived, token_of};

const RAW: &[u8] = b"Subject: a\r\n\r\nhello\r\n";

#[tokio::test]
async fn only_whom_the_relay_refuses_is_tried_again() {
    let server = MailServer::start();
    let bench = Bench::new(server.address().port()).await;
    for email in ["ada@example.com", "bob@example.com", "eve@example.com"] {
        bench.agreed(&server, email).await;
    }
    let inbox = bench.inbox(&["ada@example.com", "bob@example.com", "eve@example.com"]).await;
    server.refuse("bob@", 450);
    server.refuse("eve@", 550);
    let message = bench.deliver(&inbox, RAW).await;
    bench.when(message, "ada@example.com", ForwardStatus::Sent).await;
    let bob = bench.when(message, "bob@example.com", ForwardStatus::Retrying).await;
    assert_eq!(bob.error.as_deref(), Some("smtp_4xx"));
    let eve = bench.when(message, "eve@example.com", ForwardStatus::Failed).await;
    assert_eq!(eve.error.as_deref(), Some("smtp_5xx"));
    server.relent("bob@");
    bench.clock.advance(Duration::from_mins(1));
    bench.when(message, "bob@example.com", ForwardStatus::Sent).await;
    let mut to: Vec<_> = server.received().into_iter().skip(3).flat_map(|mail| mail.to).collect();
    to.sort_unstable();
    assert_eq!(to, ["ada@example.com", "bob@example.com"]);
}

#[tokio::test]
async fn a_relay_that_is_away_gets_it_later() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let bench = Bench::new(port).await;
    bench.app.forwarding().add_address(&bench.by, "ada@example.com").await.unwrap();
    let sent = async || bench.app.outbound_mail().health().await.unwrap();
    // The first attempt fails at once, the second after 15 s; five failures are a pattern.
    for pause in [15, 60, 300, 900] {
        bench.mail_is_put_off().await;
        bench.clock.advance(Duration::from_secs(pause));
    }
    bench.mail_is_put_off().await;
    assert_eq!(sent().await.reasons, ["consecutive_failures:5"]);
    let server = MailServer::on(port);
    bench.clock.advance(Duration::from_mins(30));
    let mail = arrived(&server, 1).await.remove(0);
    bench.app.forwarding().confirm(&token_of(&mail), None).await.unwrap();
    while !sent().await.reasons.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_relay_that_says_nothing_is_left_after_the_deadline() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let good = MailServer::start();
    let bench = Bench::new(good.address().port()).await;
    bench.agreed(&good, "ada@example.com").await;
    let options = RelayOptions {
        deadline: Duration::from_millis(100),
        ..RelayOptions::new("127.0.0.1", silent.local_addr().unwrap().port())
    };
    let relay = trapline_worker::SmtpRelay::new(options).unwrap();
    let mail = trapline_app::OutgoingMail {
        from: "a@mail.example".to_owned(),
        to: "ada@example.com".to_owned(),
        content: vec![RAW.into()],
        utf8_header: false,
    };
    let error = trapline_app::Relay::send(&relay, &mail).await.unwrap_err();
    assert_eq!((error.code, error.is_final), ("timeout", false));
}

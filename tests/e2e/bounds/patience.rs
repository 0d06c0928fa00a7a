//! Slow senders, half-open sockets and endless lines are cut.

use std::{net::SocketAddr, time::Duration};

use futures_util::future::join_all;
use trapline_tests::{Deployment, Inbox, Smtp, guarded};

/// How far a client goes before it stops being a good one.
#[derive(Debug, Clone, Copy)]
enum Point {
    Connected,
    Greeted,
    InAuth,
    SignedIn,
    InData,
}

/// Where each client stops, and what it sends again and again from there on.
const CLIENTS: [(Point, &str); 11] = [
    (Point::Connected, ""),
    (Point::Greeted, ""),
    (Point::InAuth, ""),
    (Point::SignedIn, ""),
    (Point::InData, ""),
    (Point::Connected, "E"),
    (Point::Greeted, "x"),
    (Point::InAuth, "x"),
    (Point::InData, "x"),
    (Point::InData, "\r\n"),
    // Well-behaved, but for ever.
    (Point::SignedIn, "NOOP\r\n"),
];

async fn client(address: SocketAddr, inbox: &Inbox, point: Point) -> Smtp {
    let mut smtp = match point {
        Point::Connected => return Smtp::dial(address).await,
        _ => Smtp::hello(address).await,
    };
    match point {
        Point::InAuth => drop(smtp.ask("AUTH LOGIN", 334).await),
        Point::SignedIn => smtp.login(&inbox.username, &inbox.password).await,
        Point::InData => smtp.begin("a@x.test", &[&inbox.address]).await,
        Point::Connected | Point::Greeted => {}
    }
    smtp
}

/// Sends `drop` until the server has closed. Returns the last code it said, if that came through: to
/// go on sending to a closed connection may reset it.
async fn last_code(mut smtp: Smtp, drop: &[u8]) -> Option<u16> {
    let mut last = None;
    while smtp.try_write(drop).await.is_ok() {
        while let Ok(reply) =
            tokio::time::timeout(Duration::from_millis(50), smtp.try_reply()).await
        {
            match reply {
                Some(reply) => last = Some(reply.code),
                None => return last,
            }
        }
    }
    last
}

fn impatient() -> Deployment {
    Deployment::with(&[
        "--smtp-idle",
        "2s",
        "--smtp-idle-at-first",
        "2s",
        "--smtp-data-idle",
        "2s",
        "--smtp-data-total",
        "3s",
        "--smtp-session-total",
        "6s",
    ])
}

#[tokio::test]
async fn silent_slow_and_endless_clients_are_cut() {
    let server = impatient();
    let inbox = server.rest().inbox().await;
    let address = server.smtp()[0];
    let cut = CLIENTS.map(|(point, drop)| {
        let inbox = &inbox;
        async move {
            let smtp = client(address, inbox, point).await;
            let what = format!("the end of a client that sends {drop:?} when {point:?}");
            (what.clone(), guarded(&what, last_code(smtp, drop.as_bytes())).await)
        }
    });
    for (what, code) in join_all(cut).await {
        assert_eq!(code, Some(421), "{what}");
    }
    assert_eq!(server.rest().subjects(&inbox).await.0, 0);
}

#[tokio::test]
async fn a_line_without_an_end_is_cut() {
    let server = Deployment::start();
    let smtp = Smtp::hello(server.smtp()[0]).await;
    // A fault for each 4 KiB, and after 20 faults that is that.
    let code = guarded("the end", last_code(smtp, &[b'x'; 16_384])).await;
    assert!(matches!(code, None | Some(421 | 500)), "{code:?}");
}

#[tokio::test]
async fn a_handshake_that_never_comes_is_cut() {
    let server = Deployment::start();
    let mut smtp = Smtp::dial(server.smtps()[0]).await;
    assert!(smtp.closed().await.is_empty());
}

//! Clients that begin messages and leave them: nobody else's mail waits for them.

use std::net::{IpAddr, Ipv4Addr};

use futures_util::future::join_all;
use trapline_tests::{Deployment, Inbox, Mail, Smtp};

/// More than there are small buffers.
const MANY: usize = 1_100;

/// How a client begins a message that it never ends.
#[derive(Debug, Clone, Copy)]
enum Begin {
    Data,
    Chunk,
    Challenge,
    /// DATA and so many octets.
    Octets(usize),
}

/// From one address, or each from the next of some.
#[derive(Debug, Clone, Copy)]
enum Sources {
    One,
    Some(usize),
}

impl Sources {
    fn of(self, number: usize) -> IpAddr {
        let host = match self {
            Self::One => 0,
            Self::Some(count) => number % count,
        };
        Ipv4Addr::new(127, 0, 1, u8::try_from(host + 1).unwrap()).into()
    }
}

async fn begin(server: &Deployment, inbox: &Inbox, source: IpAddr, what: Begin) -> Smtp {
    let mut smtp = Smtp::connect_from(source, server.smtp()[0]).await;
    smtp.ask("EHLO client.test", 250).await;
    if let Begin::Challenge = what {
        smtp.ask("AUTH CRAM-MD5", 334).await;
        return smtp;
    }
    smtp.ask("MAIL FROM:<a@x.test>", 250).await;
    smtp.ask(&format!("RCPT TO:<{}>", inbox.address), 250).await;
    match what {
        Begin::Chunk => smtp.write(b"BDAT 1000000\r\n").await,
        Begin::Octets(count) => {
            smtp.ask("DATA", 354).await;
            // The server stops reading when it has no memory for more.
            let octets = vec![b'x'; count];
            let sent = smtp.patient_write(&octets);
            drop(tokio::time::timeout(std::time::Duration::from_secs(2), sent).await);
        }
        Begin::Data | Begin::Challenge => drop(smtp.ask("DATA", 354).await),
    }
    smtp
}

/// Begins `count` messages and keeps them open.
async fn attack(
    server: &Deployment,
    inbox: &Inbox,
    sources: Sources,
    count: usize,
    what: Begin,
) -> Vec<Smtp> {
    let mut open = Vec::with_capacity(count);
    for first in (0..count).step_by(50) {
        let some = (first..count.min(first + 50))
            .map(|number| begin(server, inbox, sources.of(number), what));
        open.extend(join_all(some).await);
    }
    open
}

/// A small mail and one of 7 MiB, from `source`.
async fn mail_is_taken(server: &Deployment, inbox: &Inbox, source: IpAddr) {
    let mut smtp = Smtp::connect_from(source, server.smtp()[0]).await;
    smtp.ask("EHLO client.test", 250).await;
    let large =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd\r\n".repeat(114_688);
    for text in ["small", &large] {
        let raw = Mail::new("taken", text).bytes();
        smtp.transact("a@x.test", &[&inbox.address], &raw).await;
    }
}

const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 1));

#[tokio::test]
async fn what_is_only_announced_stops_nobody() {
    let server = Deployment::with(&["--smtp-data-idle", "10m", "--smtp-idle-at-first", "10m"]);
    let inbox = server.rest().inbox().await;
    for what in [Begin::Data, Begin::Chunk, Begin::Challenge] {
        let open = attack(&server, &inbox, Sources::One, MANY, what).await;
        mail_is_taken(&server, &inbox, Sources::One.of(0)).await;
        drop(open);
    }
}

#[tokio::test]
async fn one_address_and_one_inbox_have_a_share() {
    let server = Deployment::with(&["--smtp-contended-idle", "1h"]);
    let rest = server.rest();
    let (attacked, other) = (rest.inbox().await, rest.inbox().await);
    for (count, octets) in [(MANY, 1), (8, 6_600_000)] {
        let open = attack(&server, &attacked, Sources::One, count, Begin::Octets(octets)).await;
        mail_is_taken(&server, &other, OTHER).await;
        drop(open);
    }
}

#[tokio::test]
async fn who_holds_memory_and_sends_nothing_gives_way() {
    let server = Deployment::with(&["--smtp-contended-idle", "300ms"]);
    let inbox = server.rest().inbox().await;
    for (count, octets) in [(MANY, 1), (20, 6_600_000)] {
        for sources in [Sources::One, Sources::Some(100)] {
            let open = attack(&server, &inbox, sources, count, Begin::Octets(octets)).await;
            mail_is_taken(&server, &inbox, sources.of(0)).await;
            drop(open);
        }
    }
    assert_eq!(server.rest().subjects(&inbox).await.0, 8);
}

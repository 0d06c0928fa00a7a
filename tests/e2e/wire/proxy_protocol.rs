//! Load balancers that say who the client is.

use std::net::IpAddr;

use trapline_tests::{Deployment, Inbox, Mail, Rest, Smtp, eventually, tls_connector};

use super::only_raw;

const REQUIRED: [&str; 6] = [
    "--smtp-proxy-protocol",
    "required",
    "--smtp-proxy-from",
    "127.0.0.1/32",
    "--metrics-token",
    "metrics-of-proxies",
];

/// A header of the second version for a client with this IPv4 address.
fn binary(client: [u8; 4]) -> Vec<u8> {
    let fixed = [0x21, 0x11, 0, 12];
    let rest = [192, 0, 2, 1, 156, 64, 0, 25];
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &fixed, &client, &rest].concat()
}

fn line(client: &str) -> Vec<u8> {
    format!("PROXY TCP4 {client} 192.0.2.1 40000 25\r\n").into_bytes()
}

/// A connection that a load balancer on this machine introduces.
async fn introduced(server: &Deployment, header: &[u8]) -> Smtp {
    let mut smtp = Smtp::dial(server.smtp()[0]).await;
    smtp.write(header).await;
    smtp
}

async fn send(smtp: &mut Smtp, inbox: &Inbox, rest: &Rest) {
    smtp.login(&inbox.username, &inbox.password).await;
    let raw = Mail::new("introduced", "x").bytes();
    smtp.transact("a@example.test", &["b@example.test"], &raw).await;
    assert_eq!(only_raw(rest, inbox).await, raw);
}

/// How often SMTP sessions failed in this way, over all processes.
async fn faults(server: &Deployment, kind: &str) -> u64 {
    let name = format!("trapline_smtp_faults_total{{kind=\"{kind}\"}} ");
    let mut sum = 0;
    for address in server.probes() {
        let metrics = Rest::new(&address, Some("metrics-of-proxies")).get("/api/metrics").await;
        let metrics = metrics.expect(200);
        let value = metrics.text().lines().find_map(|line| line.strip_prefix(&name));
        sum += value.map_or(0, |number| number.parse::<u64>().unwrap());
    }
    sum
}

#[tokio::test]
async fn mail_comes_in_behind_headers_of_both_versions_with_and_without_tls() {
    let server = Deployment::with(&REQUIRED);
    let rest = server.rest();
    let ca = rest.get("/api/smtp/ca.pem").await.expect(200);
    let tls = tls_connector(ca.text());
    for header in [line("203.0.113.7"), binary([203, 0, 113, 7]), b"PROXY UNKNOWN\r\n".to_vec()] {
        let mut plain = introduced(&server, &header).await;
        plain.expect(220).await;
        plain.ask("EHLO client.test", 250).await;
        plain.ask("STARTTLS", 220).await;
        let mut sealed = plain.encrypted(&tls).await;
        sealed.ask("EHLO client.test", 250).await;
        send(&mut sealed, &rest.inbox().await, &rest).await;
        let mut implicit = Smtp::dial(server.smtps()[0]).await;
        implicit.write(&header).await;
        let mut implicit = implicit.encrypted(&tls).await;
        implicit.expect(220).await;
        implicit.ask("EHLO client.test", 250).await;
        send(&mut implicit, &rest.inbox().await, &rest).await;
    }
    // The header and the first command in one packet, and in single octets.
    let whole = [line("203.0.113.7"), b"EHLO client.test\r\n".to_vec()].concat();
    let mut at_once = introduced(&server, &whole).await;
    at_once.expect(220).await;
    at_once.expect(250).await;
    let mut in_octets = Smtp::dial(server.smtp()[0]).await;
    for octet in binary([203, 0, 113, 8]) {
        in_octets.write(&[octet]).await;
    }
    in_octets.expect(220).await;
}

#[tokio::test]
async fn what_nobody_introduces_is_closed_without_a_word_and_counted() {
    let server = Deployment::with(&REQUIRED);
    let cases: [&[u8]; 5] = [
        b"EHLO client.test\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PROXY TCP4 somewhere 192.0.2.1 40000 25\r\n",
        &[&b"\r\n\r\n\0\r\nQUIT\n"[..], &[0x21, 0x11, 0xff, 0xff]].concat(),
        &[b'P'; 600],
    ];
    for case in cases {
        let mut smtp = introduced(&server, case).await;
        assert!(smtp.closed().await.is_empty(), "{}", case.escape_ascii());
    }
    assert_eq!(faults(&server, "proxy_header").await, 5);
    // Nothing is said to whoever says nothing, and the connection ends by itself.
    let mut silent = introduced(&server, b"PROXY TCP4 203.").await;
    assert!(silent.closed().await.is_empty());
    assert_eq!(faults(&server, "proxy_timeout").await, 1);
    // From where no load balancer is: its words count for nothing.
    let stranger: IpAddr = [127, 0, 0, 2].into();
    let mut spoofed = Smtp::dial_from(stranger, server.smtp()[0]).await;
    drop(spoofed.try_write(&line("203.0.113.7")).await);
    assert!(spoofed.closed().await.is_empty());
    eventually("a count of it", async || {
        (faults(&server, "proxy_untrusted").await == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn limits_of_an_address_are_those_of_the_client() {
    let flags = [&REQUIRED[..], &["--smtp-per-address", "2"]].concat();
    let server = Deployment::with(&flags);
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut smtp = introduced(&server, &line("203.0.113.7")).await;
        smtp.expect(220).await;
        open.push(smtp);
    }
    for header in [line("203.0.113.7"), binary([203, 0, 113, 7])] {
        let mut third = introduced(&server, &header).await;
        assert_eq!(third.closed().await, [421]);
    }
    let mut other = introduced(&server, &line("203.0.113.8")).await;
    other.expect(220).await;
    open.pop();
    eventually("a place that is free again", async || {
        let mut again = introduced(&server, &line("203.0.113.7")).await;
        (again.try_reply().await?.code == 220).then_some(())
    })
    .await;
}

#![expect(clippy::unwrap_used, reason = "tests")]

use std::net::SocketAddr;

use clap::Parser;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::tls::Security;

/// A server that accepts everything but recipients that begin with `no`.
async fn accepting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream));
        }
    });
    address
}

async fn serve(stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let (mut content, mut reply) = (false, "220 hello\r\n");
    loop {
        stream.write_all(reply.as_bytes()).await.unwrap();
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return;
        }
        reply = match line.as_str() {
            ".\r\n" => "250 stored\r\n",
            _ if content => "",
            "DATA\r\n" => "354 go\r\n",
            _ if line.starts_with("RCPT TO:<no") => "550 no\r\n",
            _ => "250 ok\r\n",
        };
        content = line == "DATA\r\n" || (content && line != ".\r\n");
    }
}

async fn run(address: SocketAddr, args: &[&str]) -> (Stats, usize) {
    let args = Args::try_parse_from(["smtpblast"].iter().chain(args)).unwrap();
    let (limit, security) = (args.timeout, Security::None);
    let load = Load::new(Server { address, security, pipelining: false, limit }, Vec::new());
    let outcome = load.run(&args, Template::new(&args).unwrap()).await;
    (outcome.stats, load.opened.load(Ordering::Relaxed))
}

#[tokio::test]
async fn every_message_is_sent_once() {
    let address = accepting().await;
    let cases: &[(&[&str], usize)] = &[
        (&["-n", "50", "-c", "3"], 3),
        (&["-n", "50", "-c", "3", "--per-connection", "1"], 50),
        (&["-n", "50", "-c", "1", "--per-connection", "20"], 3),
    ];
    for (args, opened) in cases {
        let (stats, connections) = run(address, args).await;
        assert_eq!((stats.accepted, stats.transaction.count()), (50, 50), "{args:?}");
        assert_eq!((connections, stats.errors.len()), (*opened, 0), "{args:?}");
    }
}

#[tokio::test]
async fn refusals_are_counted_and_keep_the_connection() {
    let (stats, opened) = run(accepting().await, &["-n", "20", "-c", "2", "--to", "no{n}@x"]).await;
    assert_eq!((stats.accepted, stats.errors["RCPT: 550"], opened), (0, 20, 2));
}

#[tokio::test]
async fn a_server_that_is_down_is_counted_once_a_message() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (stats, _) = run(closed, &["-n", "3", "-c", "1", "--per-connection", "1"]).await;
    assert_eq!(stats.errors["connect: connection refused"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_rate_spreads_messages_over_time() {
    let args = Args::try_parse_from(["smtpblast", "--rate", "10", "--duration", "1"]).unwrap();
    let budget = Budget::new(&args);
    let mut sent = Vec::new();
    while let Some(n) = budget.take().await {
        sent.push((n, budget.begun.elapsed().as_millis()));
    }
    let expected: Vec<_> = (0..10).map(|n| (n, u128::from(n) * 100)).collect();
    assert_eq!(sent, expected);
}

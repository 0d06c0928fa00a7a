#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deferred;
mod tls;

use std::{io, net::SocketAddr};

use axum::{body::Bytes, routing::get};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use tokio_util::sync::DropGuard;

use super::*;

/// Only a guard against waiting for ever.
const GUARD: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(300);

/// A listener that is told to stop when this is dropped.
struct Server {
    address: SocketAddr,
    _stop: DropGuard,
}

impl Server {
    async fn start(limits: Limits, router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let memory = BodyMemory::new(1 << 30);
        let server = HttpServer::new(router, limits, memory, shutdown.clone());
        tokio::spawn(server.serve(listener));
        Self { address, _stop: shutdown.drop_guard() }
    }

    async fn with(limits: Limits) -> Self {
        Self::start(limits, Router::new().route("/ok", get(async || "ok"))).await
    }

    /// A connection from one of this machine's own addresses.
    async fn dial(&self, from: [u8; 4]) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        socket.connect(self.address).await.unwrap()
    }
}

const ONE: [u8; 4] = [127, 0, 0, 1];
const TWO: [u8; 4] = [127, 0, 0, 2];

async fn send(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// What comes until the end, or until an answer `ok` is there.
async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut text = Vec::new();
    let read = async {
        while stream.read_buf(&mut text).await? > 0 && !text.ends_with(b"ok") {}
        io::Result::Ok(())
    };
    drop(timeout(read).await);
    String::from_utf8_lossy(&text).into_owned()
}

async fn timeout<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(GUARD, work).await.expect("nothing came")
}

async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    send(stream, "GET /ok HTTP/1.1\r\nhost: x\r\n\r\n").await;
    answer(stream).await
}

#[tokio::test]
async fn a_client_that_does_not_read_lets_its_answer_go() {
    struct Large {
        bytes: Vec<u8>,
        _gone: DropGuard,
    }
    impl AsRef<[u8]> for Large {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    let gone = CancellationToken::new();
    let of_server = gone.clone();
    let large = move || {
        let gone = of_server.clone().drop_guard();
        async { Bytes::from_owner(Large { bytes: vec![0; 64 << 20], _gone: gone }) }
    };
    let router = Router::new().route("/large", get(large));
    let limits = Limits { write: SHORT, ..Limits::default() };
    let server = Server::start(limits, router).await;
    let mut stream = server.dial(ONE).await;
    send(&mut stream, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
    timeout(gone.cancelled()).await;
}

#[tokio::test]
async fn connections_beyond_the_bounds_are_told_so_and_others_are_served() {
    let server = Server::with(Limits { connections: 4, per_address: 3, ..Limits::default() }).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut stream = server.dial(ONE).await;
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200 "));
        open.push(stream);
    }
    for _ in 0..3 {
        let refused = ask(&mut server.dial(ONE).await).await;
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(refused.contains("retry-after: 1"), "{refused}");
    }
    let mut other = server.dial(TWO).await;
    assert!(ask(&mut other).await.starts_with("HTTP/1.1 200 "));
    let refused = ask(&mut server.dial([127, 0, 0, 3]).await).await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    open.clear();
    timeout(async {
        while !ask(&mut server.dial(ONE).await).await.starts_with("HTTP/1.1 200 ") {}
    })
    .await;
    assert!(ask(&mut other).await.starts_with("HTTP/1.1 200 "), "an open one stays");
}

#[tokio::test]
async fn whoever_sends_no_request_is_cut_and_whoever_did_is_not() {
    let server = Server::with(Limits { first_request: SHORT, ..Limits::default() }).await;
    let mut good = server.dial(ONE).await;
    ask(&mut good).await;
    let mut silent = server.dial(ONE).await;
    let mut slow = server.dial(ONE).await;
    send(&mut slow, "GET /ok HTTP/1.1\r\nhost: ").await;
    assert_eq!(answer(&mut silent).await, "");
    // A head that grows and grows is cut all the same.
    timeout(async { while slow.write_all(b"x").await.is_ok() {} }).await;
    assert!(ask(&mut good).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn another_protocol_is_told_so_at_once() {
    let server = Server::with(Limits::default()).await;
    for text in ["EHLO client.test\r\n", "HELO x\r\n", "MAIL FROM:<a@x.test>\r\n", "\u{16}\u{3}"] {
        let mut stream = server.dial(ONE).await;
        send(&mut stream, text).await;
        let said = answer(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{text:?}: {said}");
    }
}

#[tokio::test]
async fn a_head_is_bounded_to_the_byte() {
    let server = Server::with(Limits::default()).await;
    let start = "GET /ok HTTP/1.1\r\nhost: x\r\nx-long: ";
    for (bytes, status) in
        [(1_000, 200), (HEAD_BYTES, 200), (HEAD_BYTES + 1, 431), (2 * HEAD_BYTES, 431)]
    {
        let mut stream = server.dial(ONE).await;
        let long = "a".repeat(bytes - start.len() - 4);
        // The rest of a head that is refused may find the connection closed.
        drop(stream.write_all(format!("{start}{long}\r\n\r\n").as_bytes()).await);
        let said = answer(&mut stream).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes}: {said}");
    }
}

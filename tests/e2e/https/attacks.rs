//! Clients that do not do as TLS wants it, while others are served.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use trapline_tests::{Deployment, guarded, shared};

use super::Https;

const MANY: [u8; 4] = [127, 0, 0, 9];
const OTHER: [u8; 4] = [127, 0, 0, 10];
const HANDSHAKES: usize = 1_000;
const STALLED: usize = 200;

/// A connection from one of this machine's own addresses.
async fn dial(https: &Https, from: [u8; 4]) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(https.address).await
}

/// Whether a request from another address is answered.
async fn is_served(https: &Https) -> bool {
    let mut stream = https.handshake(dial(https, OTHER).await.unwrap(), "localhost").await.unwrap();
    let request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    guarded("an answer", stream.read_to_string(&mut answer)).await.unwrap();
    answer.starts_with("HTTP/1.1 200 ")
}

#[tokio::test]
async fn what_is_no_tls_is_answered_and_what_is_tls_is_refused_elsewhere() {
    let server = shared();
    for https in Https::all(&server).await {
        let mut stream = dial(&https, OTHER).await.unwrap();
        stream.write_all(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        guarded("an answer", stream.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https"), "{answer}");
    }
    let https = Https::all(&server).await.remove(0);
    for api in server.api() {
        let plain = TcpStream::connect(api.trim_start_matches("http://")).await.unwrap();
        let refused = https.handshake(plain, "localhost").await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{refused}");
    }
}

#[tokio::test]
async fn a_thousand_handshakes_of_one_address_keep_nobody_out() {
    let server = Deployment::with(&["--http-connections", "1000", "--http-per-address", "400"]);
    let https = &Https::all(&server).await.remove(0);
    // These say who they are and nothing more, and hold their places.
    let stalled = join_all((0..STALLED).map(async |_| {
        let mut stream = dial(https, MANY).await.unwrap();
        stream.write_all(&[22, 3, 1, 2, 0, 1]).await.unwrap();
        stream
    }))
    .await;
    let (ended, answers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let flood = join_all((0..HANDSHAKES).map(async |_| {
        let begun = dial(https, MANY).await.unwrap();
        let session = https.handshake(begun, "localhost").await;
        ended.fetch_add(1, Ordering::Relaxed);
        session
    }));
    let others = async {
        while ended.load(Ordering::Relaxed) < HANDSHAKES {
            assert!(is_served(https).await);
            answers.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (sessions, ()) = tokio::join!(flood, others);
    let open = sessions.iter().filter(|session| session.is_ok()).count();
    // No address has more than its share of connections, handshakes that stall included.
    assert!((1..=400 - STALLED).contains(&open), "{open} of {HANDSHAKES}");
    assert!(answers.load(Ordering::Relaxed) > 0);
    drop((stalled, sessions));
    assert!(is_served(https).await);
    assert!(server.rest().get("/api/health").await.status == 200);
}

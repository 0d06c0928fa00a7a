#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

async fn start(retry_after: Option<u32>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, Arc::new(Sink::new(100_000, retry_after))));
    address
}

async fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: sink\r\nConnection: close\r\nX-Webhook-Delivery: d1\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn exchange(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
    let mut answer = String::new();
    send(address, method, path, body).await.read_to_string(&mut answer).await.unwrap();
    answer.to_lowercase()
}

#[tokio::test]
async fn the_path_decides_about_the_answer() {
    let address = start(Some(60)).await;
    let cases = [
        ("POST", "/200/a", "200", false),
        ("POST", "/500/a", "500", false),
        ("POST", "/503/a", "503", true),
        ("POST", "/429/a", "429", true),
        ("POST", "/nothing", "404", false),
        ("GET", "/200/a", "405", false),
    ];
    for (method, path, status, retry_after) in cases {
        let answer = exchange(address, method, path, "{}").await;
        assert!(answer.starts_with(&format!("http/1.1 {status}")), "{path}: {answer}");
        assert_eq!(answer.contains("\r\nretry-after: 60\r\n"), retry_after, "{path}: {answer}");
    }
}

#[tokio::test]
async fn calls_are_counted_and_listed() {
    let address = start(None).await;
    for _ in 0..2 {
        exchange(address, "POST", "/200/a", r#"{"message":{"subject":"one two"}}"#).await;
    }
    let stats = exchange(address, "GET", "/stats", "").await;
    assert!(stats.contains(r#""requests":2,"distinct":1,"unkept":0,"#), "{stats}");
    let arrivals = exchange(address, "GET", "/arrivals", "").await;
    assert_eq!(arrivals.matches(" /200/a d1 one two\n").count(), 2, "{arrivals}");
}

#[tokio::test]
async fn a_silent_endpoint_counts_and_holds_nobody_up() {
    let address = start(None).await;
    let mut silent = send(address, "POST", "/never/a", "{}").await;
    while !exchange(address, "GET", "/stats", "").await.contains(r#""requests":1"#) {
        tokio::task::yield_now().await;
    }
    assert!(exchange(address, "POST", "/200/b", "{}").await.starts_with("http/1.1 200"));
    let unread = silent.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(unread.kind(), std::io::ErrorKind::WouldBlock);
    silent.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_body_has_a_bound() {
    let address = start(None).await;
    let answer = exchange(address, "POST", "/200/a", &"x".repeat(BODY + 1)).await;
    assert!(answer.starts_with("http/1.1 413"), "{answer}");
}

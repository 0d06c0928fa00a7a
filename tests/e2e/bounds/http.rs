//! HTTP clients that do not read.

use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use trapline_tests::{Deployment, Mail, deliver_bytes, guarded, memory_of};

const MIB: u64 = 1 << 20;
const CLIENTS: usize = 40;
const SILENT: [u8; 4] = [127, 0, 0, 1];
const OTHER: [u8; 4] = [127, 0, 0, 2];

/// Sends a request from one of this machine's own addresses, and reads nothing yet.
async fn ask(server: &Deployment, path: &str, from: [u8; 4]) -> TcpStream {
    let api = &server.api()[0];
    let address = api.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    if from == SILENT {
        socket.set_recv_buffer_size(4096).unwrap();
    }
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let key = server.team().key();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    // A connection that is cut is an end too.
    guarded("an end", stream.read_to_end(&mut answer)).await.ok();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_read_take_bounded_memory_and_stop_nobody() {
    let server = Deployment::with(&["--answer-memory", "128MiB", "--http-write-timeout", "2s"]);
    let inbox = server.rest().inbox().await;
    let mail = Mail::new("large", &"0123456789abcdef\n".repeat(24_000_000 / 17)).bytes();
    let id = deliver_bytes(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/raw");
    let process = server.smtp_process_ids()[0];
    let before = memory_of(process, "VmRSS").unwrap();
    let clients = join_all((0..CLIENTS).map(|_| ask(&server, &path, SILENT))).await;
    for _ in 0..4 {
        let answer = rest(ask(&server, &path, OTHER).await).await;
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
        assert!(answer.ends_with(&mail[mail.len() - 100..]));
        let grown = memory_of(process, "VmRSS").unwrap().saturating_sub(before);
        assert!(grown < 300 * MIB, "{} MiB more", grown / MIB);
    }
    // Whoever found no room was told so; whoever had room has the beginning, or all if it reads in time.
    let answers = join_all(clients.into_iter().map(rest)).await;
    for answer in answers {
        let head = String::from_utf8_lossy(&answer[..answer.len().min(100)]).into_owned();
        let is_told = ["HTTP/1.1 200 ", "HTTP/1.1 503 "].iter().any(|line| head.starts_with(line));
        assert!(is_told || answer.is_empty(), "{head}");
    }
}

/// Whoever sends all of a large body before it reads has the answer, and asks on over the same connection.
#[tokio::test]
async fn a_large_body_that_nobody_wants_is_answered() {
    const BODY: usize = 8 << 20;
    let server = trapline_tests::shared();
    let key = server.team().key();
    let key = format!("Authorization: Bearer {key}\r\n");
    let sent = vec![b'x'; BODY];
    for (path, authorization, status) in [
        ("/nowhere", "", "404"),
        ("/api/projects", "", "401"),
        ("/api/projects", key.as_str(), "415"),
        ("/mock/nowhere/v1/customers", "", "404"),
    ] {
        let api = &server.api()[0];
        let mut stream = TcpStream::connect(api.strip_prefix("http://").unwrap()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\n{authorization}Content-Length: {BODY}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        guarded("room for the body", stream.write_all(&sent)).await.unwrap();
        stream
            .write_all(b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let answers = String::from_utf8(rest(stream).await).unwrap();
        let statuses: Vec<_> = answers.split("HTTP/1.1 ").skip(1).map(|it| &it[..3]).collect();
        assert_eq!(statuses, [status, "404"], "{path}: {answers}");
    }
}

//! Answers that come later: the connection is taken apart meanwhile, of which a client sees nothing.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use tokio::sync::Semaphore;
use trapline_api::deferred;

use super::*;

/// Lets handlers end.
#[derive(Clone)]
pub(super) struct Gate {
    open: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Cancelled when a handler was given up.
    pub(super) gone: CancellationToken,
}

impl Gate {
    pub(super) fn new() -> Self {
        let [open, waiting] = [0; 2].map(|none| Arc::new(Semaphore::new(none)));
        Self { open, waiting, gone: CancellationToken::new() }
    }

    pub(super) fn router(&self) -> Router {
        let large = async || vec![b'.'; LARGE];
        let routes = Router::new().route("/later", get(answer_later)).route("/large", get(large));
        routes.with_state(self.clone())
    }

    /// Waits until another handler waits.
    pub(super) async fn one_waits(&self) {
        timeout(self.waiting.acquire()).await.unwrap().forget();
    }

    pub(super) fn let_one_end(&self) {
        self.open.add_permits(1);
    }
}

/// More than the system buffers of a connection.
pub(super) const LARGE: usize = 16 << 20;

async fn answer_later(State(gate): State<Gate>) -> Response {
    let answer = deferred(async move {
        let gone = gate.gone.clone().drop_guard();
        gate.waiting.add_permits(1);
        gate.open.acquire().await.unwrap().forget();
        gone.disarm();
        "ok"
    });
    ([("x-early", "1")], answer).into_response()
}

#[tokio::test]
async fn an_answer_that_comes_later_is_like_any_other() {
    let gate = Gate::new();
    let server = Server::start(Limits::default(), gate.router()).await;
    let mut stream = server.dial(ONE).await;
    for more in ["", "x-request-id: 1\r\n", "connection: keep-alive\r\n"] {
        send(&mut stream, &format!("GET /later HTTP/1.1\r\nhost: x\r\n{more}\r\n")).await;
        gate.one_waits().await;
        gate.let_one_end();
        let said = answer(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("\r\n\r\nok"), "{said}");
        assert!(said.contains("content-length: 2\r\n") && said.contains("date: "), "{said}");
        assert!(said.contains("x-early: 1\r\n"), "{said}");
        assert!(!said.contains("connection: "), "{said}");
    }
}

#[tokio::test]
async fn what_a_client_says_of_its_connection_holds_for_an_answer_that_comes_later() {
    let gate = Gate::new();
    let server = Server::start(Limits::default(), gate.router()).await;
    let cases = [
        ("GET /later HTTP/1.1\r\nhost: x\r\nconnection: te, Close\r\n\r\n", "HTTP/1.1", "ok"),
        ("GET /later HTTP/1.0\r\n\r\n", "HTTP/1.0", "ok"),
        ("HEAD /later HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "HTTP/1.1", ""),
    ];
    for (request, version, body) in cases {
        let mut stream = server.dial(ONE).await;
        send(&mut stream, request).await;
        gate.one_waits().await;
        gate.let_one_end();
        let mut said = String::new();
        timeout(stream.read_to_string(&mut said)).await.unwrap();
        assert!(said.starts_with(&format!("{version} 200 OK\r\n")), "{request}: {said}");
        assert!(said.ends_with(&format!("\r\n\r\n{body}")), "{request}: {said}");
        assert!(said.contains("content-length: 2\r\n"), "{request}: {said}");
    }
    let mut stream = server.dial(ONE).await;
    for _ in 0..2 {
        send(&mut stream, "GET /later HTTP/1.0\r\nconnection: keep-alive\r\n\r\n").await;
        gate.one_waits().await;
        gate.let_one_end();
        assert!(answer(&mut stream).await.contains("connection: keep-alive\r\n"));
    }
}

#[tokio::test]
async fn requests_before_and_after_one_that_is_answered_later_are_answered_in_order() {
    let gate = Gate::new();
    let server = Server::start(Limits::default(), gate.router()).await;
    let mut stream = server.dial(ONE).await;
    let get = |path| format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    let all = ["/large", "/later", "/later", "/large"].map(get).concat();
    send(&mut stream, &all).await;
    let mut said = vec![0; LARGE];
    timeout(stream.read_exact(&mut said)).await.unwrap();
    gate.one_waits().await;
    gate.let_one_end();
    gate.one_waits().await;
    send(&mut stream, "GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    gate.let_one_end();
    timeout(stream.read_to_end(&mut said)).await.unwrap();
    let said = String::from_utf8(said).unwrap();
    let heads: Vec<_> = said.match_indices("HTTP/1.1 ").map(|(at, _)| at).collect();
    let ends = heads.iter().skip(1).copied().chain([said.len()]);
    let lengths: Vec<_> = heads
        .iter()
        .zip(ends)
        .map(|(at, end)| said[*at..end].split_once("\r\n\r\n").map_or(0, |(_, body)| body.len()))
        .collect();
    assert_eq!(lengths, [LARGE, 2, 2, LARGE, 0]);
}

#[tokio::test]
async fn the_work_for_a_client_that_leaves_ends() {
    for leaves in [false, true] {
        let gate = Gate::new();
        let server = Server::start(Limits::default(), gate.router()).await;
        let mut stream = server.dial(ONE).await;
        send(&mut stream, "GET /later HTTP/1.1\r\nhost: x\r\n\r\n").await;
        gate.one_waits().await;
        if leaves {
            drop(stream);
        } else {
            stream.shutdown().await.unwrap();
        }
        timeout(gate.gone.cancelled()).await;
    }
}

#[tokio::test]
async fn an_answer_that_comes_later_goes_out_while_the_server_ends() {
    let gate = Gate::new();
    let server = Server::start(Limits::default(), gate.router()).await;
    let mut stream = server.dial(ONE).await;
    send(&mut stream, "GET /later HTTP/1.1\r\nhost: x\r\n\r\n").await;
    gate.one_waits().await;
    drop(server);
    gate.let_one_end();
    let mut said = String::new();
    timeout(stream.read_to_string(&mut said)).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("\r\n\r\nok"), "{said}");
}

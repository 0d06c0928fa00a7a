//! Receivers on this machine that do what the test tells them.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    ended: mpsc::UnboundedReceiver<()>,
}

impl Receiver {
    /// Gives each connection to `talk`.
    pub(super) async fn new<F, Fut>(talk: F) -> Self
    where
        F: Fn(TcpStream) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<AtomicUsize>::default();
        let (end, ended) = mpsc::unbounded_channel();
        let count = connections.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let (talk, end) = (talk(stream), end.clone());
                tokio::spawn(async move {
                    talk.await;
                    end.send(()).unwrap_or_default();
                });
            }
        });
        Self { address, connections, ended }
    }

    /// Answers every request on every connection with the same bytes.
    pub(super) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::new(move |mut stream| {
            let answer = answer.clone();
            async move {
                while read_request(&mut stream).await.is_some() {
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// After the request, writes `head` and then `more` for as long as somebody reads.
    pub(super) async fn endless(head: &'static str, more: &'static [u8]) -> Self {
        Self::new(move |mut stream| async move {
            read_request(&mut stream).await.unwrap();
            if stream.write_all(head.as_bytes()).await.is_ok() {
                while stream.write_all(more).await.is_ok() {}
            }
        })
        .await
    }

    pub(super) fn url(&self) -> String {
        format!("http://hook.example.com:{}/hook?a=b", self.address.port())
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns once a connection is over.
    pub(super) async fn ended(&mut self) {
        self.ended.recv().await.unwrap();
    }
}

/// A request with its body; `None` at the end of the connection.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&request).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1);
            let length = length.and_then(|rest| rest.lines().next()).map_or("0", str::trim);
            if body.len() >= length.parse().unwrap() {
                return Some(String::from_utf8(request).unwrap());
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => request.extend_from_slice(&buffer[..read]),
        }
    }
}

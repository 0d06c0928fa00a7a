//! The client's end of a raw connection.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// So that a test fails instead of waiting for ever.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Client<S = TcpStream> {
    stream: BufReader<S>,
}

async fn patiently<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.unwrap()
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::new(patiently(TcpStream::connect(address)).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn into_inner(self) -> S {
        assert!(self.stream.buffer().is_empty(), "a reply was left");
        self.stream.into_inner()
    }

    pub(crate) async fn try_send(&mut self, octets: impl AsRef<[u8]>) -> io::Result<()> {
        patiently(self.stream.write_all(octets.as_ref())).await?;
        patiently(self.stream.flush()).await
    }

    pub(crate) async fn send(&mut self, octets: impl AsRef<[u8]>) {
        self.try_send(octets).await.unwrap();
    }

    /// One reply, its lines joined by LF; `""` at the end of the stream.
    pub(crate) async fn reply(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let start = reply.len();
            if patiently(self.stream.read_line(&mut reply)).await.unwrap() == 0 {
                return reply;
            }
            if reply.as_bytes().get(start + 3) != Some(&b'-') {
                return reply.trim_end().replace("\r\n", "\n");
            }
        }
    }

    pub(crate) async fn ask(&mut self, octets: impl AsRef<[u8]>) -> String {
        self.send(octets).await;
        self.reply().await
    }

    /// Sends lines one by one, and compares the beginnings of the replies.
    pub(crate) async fn converse(&mut self, lines: &[(&str, &str)]) {
        for (line, expected) in lines {
            let reply = self.ask(format!("{line}\r\n")).await;
            assert!(reply.starts_with(expected), "{line:?} was answered {reply:?}");
        }
    }

    pub(crate) async fn envelope(&mut self) {
        self.converse(&[
            ("MAIL FROM:<a@b.test>", "250 2.1.0"),
            ("RCPT TO:<c@d.test>", "250 2.1.5"),
        ])
        .await;
    }

    /// Everything until the end of the stream.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        patiently(self.stream.read_to_string(&mut rest)).await.unwrap();
        rest
    }
}

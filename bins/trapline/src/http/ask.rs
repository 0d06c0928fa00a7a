//! A request to a server of ours, by whoever only wants to know how it is.

use std::io;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 16 << 10;

/// An answer, as far as it was read.
pub(crate) struct HttpAnswer {
    /// The status line, the head and the body; at most 16 KiB.
    text: String,
}

impl HttpAnswer {
    /// The status, if there is one.
    pub(crate) fn status(&self) -> Option<u16> {
        self.text.split(' ').nth(1)?.parse().ok()
    }

    /// What comes after the head.
    pub(crate) fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }
}

/// Sends `GET` to `authority`, a host and a port, and reads the answer to its end.
///
/// # Errors
///
/// When nobody listens there, or the connection breaks.
pub(crate) async fn ask(authority: &str, path: &str) -> io::Result<HttpAnswer> {
    let mut connection = TcpStream::connect(authority).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    Ok(HttpAnswer { text: String::from_utf8_lossy(&answer).into_owned() })
}

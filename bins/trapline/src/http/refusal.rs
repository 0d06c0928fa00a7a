//! An answer to somebody who is not served, and the end of the connection.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// How long a refused client may take to send the request that it came with.
const LINGER: Duration = Duration::from_secs(1);

/// Sends the answer and closes, within a second. The end waits for the request, or the client would see a reset
/// instead of the answer.
pub(super) async fn answer(mut stream: TcpStream, text: &str) {
    let exchange = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        while stream.read(&mut [0; 4096]).await? > 0 {}
        std::io::Result::Ok(())
    };
    drop(timeout(LINGER, exchange).await);
}

/// Fails where an answer is not as long as it says.
#[cfg(test)]
pub(super) fn assert_length(answer: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let said = format!("content-length: {}", body.len());
    assert!(head.contains(&said), "{said}");
}

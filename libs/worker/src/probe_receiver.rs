//! A receiver of webhooks of this process's own, for one request of a probe.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::outbound::{Cidr, Guard, GuardOptions, HeaderName, HeaderValue, Url};

/// The most bytes of a request that are read.
const MAX_REQUEST: usize = 16 << 10;

/// Listens on a port of this machine until the request came.
pub(crate) struct ProbeReceiver(TcpListener);

impl ProbeReceiver {
    /// What it answers.
    pub(crate) const STATUS: u16 = 204;

    pub(crate) async fn open() -> io::Result<Self> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map(Self)
    }

    pub(crate) fn url(&self) -> Result<Url, String> {
        let address = self.0.local_addr().map_err(|error| error.to_string())?;
        Url::parse(&format!("http://{address}/")).map_err(|error| error.to_string())
    }

    /// Allows what no webhook of a user may call, and what is listened on here: this machine.
    pub(crate) fn guard() -> Guard {
        let allow = vec![Cidr::from(IpAddr::from(Ipv4Addr::LOCALHOST))];
        Guard::new(GuardOptions { allow, ..GuardOptions::default() })
    }

    /// Returns once a request came that has these headers and this body. Others on this machine may
    /// connect as well.
    pub(crate) async fn get(&self, headers: &[(HeaderName, HeaderValue)], body: &Bytes) {
        loop {
            let answered = match self.0.accept().await {
                Ok((client, _)) => answer(client, headers, body).await,
                Err(error) => Err(error),
            };
            match answered {
                Ok(true) => return,
                other => tracing::debug!(?other, "the probe's receiver got another call"),
            }
        }
    }
}

/// Whether the request is the one that was sent.
async fn answer(
    mut client: TcpStream,
    headers: &[(HeaderName, HeaderValue)],
    body: &Bytes,
) -> io::Result<bool> {
    let mut request = Vec::new();
    while request.len() < MAX_REQUEST {
        if client.read_buf(&mut request).await? == 0 {
            return Ok(false);
        }
        if is_as_sent(&request, headers, body) {
            let answer = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
            client.write_all(answer).await?;
            return client.shutdown().await.map(|()| true);
        }
    }
    Ok(false)
}

fn is_as_sent(request: &[u8], headers: &[(HeaderName, HeaderValue)], body: &[u8]) -> bool {
    let Some(head) = request.strip_suffix(body) else { return false };
    let Ok(head) = str::from_utf8(head) else { return false };
    let has = |(name, value): &(HeaderName, HeaderValue)| {
        let sent = head.lines().filter_map(|line| line.split_once(": "));
        let mut sent = sent.filter(|(found, _)| found.eq_ignore_ascii_case(name.as_str()));
        sent.any(|(_, found)| found.as_bytes() == value.as_bytes())
    };
    head.starts_with("POST ") && head.ends_with("\r\n\r\n") && headers.iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_request_that_was_sent_is_taken_for_it() {
        let header = (HeaderName::from_static("x-a"), HeaderValue::from_static("1"));
        let headers = std::slice::from_ref(&header);
        assert!(is_as_sent(b"POST / HTTP/1.1\r\nX-A: 1\r\n\r\n{}", headers, b"{}"));
        for other in [
            "POST / HTTP/1.1\r\nx-a: 2\r\n\r\n{}",
            "POST / HTTP/1.1\r\n\r\n{}",
            "POST / HTTP/1.1\r\nx-a: 1\r\n\r\n{ }",
            "GET / HTTP/1.1\r\nx-a: 1\r\n\r\n{}",
            "POST / HTTP/1.1\r\nx-a: 1\r\n{}",
            "",
        ] {
            assert!(!is_as_sent(other.as_bytes(), headers, b"{}"), "{other}");
        }
    }
}

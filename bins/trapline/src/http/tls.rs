//! TLS at the beginning of a connection, and what comes there without it.

use std::{io, sync::Arc, time::Duration};

use rustls::ServerConfig;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use trapline_app::metrics;

use super::refusal;

/// The type of the TLS record that a client begins with: handshake (RFC 8446, section 5.1).
const HANDSHAKE_RECORD: u8 = 22;
/// Bytes of an answer that wait inside a TLS session for the client to take them: a full record.
const SESSION_BUFFER_BYTES: usize = 16 * 1024;
/// The answer to a request that comes without TLS.
const PLAIN_HTTP: &str = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\
    content-type: application/json\r\ncontent-length: 65\r\n\r\n\
    {\"error\":\"This port takes https:// only\",\"code\":\"https_required\"}";

/// Begins TLS on connections.
#[derive(Clone)]
pub(super) struct TlsEntrance {
    acceptor: TlsAcceptor,
    /// The time that a client has for the handshake.
    time: Duration,
}

/// What a connection began with.
enum Beginning {
    Session(Box<TlsStream<TcpStream>>),
    /// Something that is no TLS.
    Plain(TcpStream),
    /// Nothing, as load balancers do that only see whether somebody listens.
    Nothing,
}

impl TlsEntrance {
    pub(super) fn new(config: Arc<ServerConfig>, time: Duration) -> Self {
        Self { acceptor: config.into(), time }
    }

    /// The session, once the client has shaken hands. Whoever speaks without TLS is told so.
    pub(super) async fn accept(&self, stream: TcpStream) -> Option<Box<TlsStream<TcpStream>>> {
        let begun = timeout(self.time, self.begin(stream)).await;
        match begun.unwrap_or_else(|elapsed| Err(elapsed.into())) {
            Ok(Beginning::Session(session)) => return Some(session),
            Ok(Beginning::Nothing) => {}
            Ok(Beginning::Plain(stream)) => {
                metrics::http_fault("no_tls");
                refusal::answer(stream, PLAIN_HTTP).await;
            }
            Err(error) => {
                metrics::http_fault("handshake");
                tracing::debug!(%error, "a TLS handshake failed");
            }
        }
        None
    }

    async fn begin(&self, stream: TcpStream) -> io::Result<Beginning> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Ok(Beginning::Nothing);
        }
        if first != [HANDSHAKE_RECORD] {
            return Ok(Beginning::Plain(stream));
        }
        let bounded = |session: &mut rustls::ServerConnection| {
            session.set_buffer_limit(Some(SESSION_BUFFER_BYTES));
        };
        let session = self.acceptor.accept_with(stream, bounded).await?;
        Ok(Beginning::Session(Box::new(session)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        refusal::assert_length(PLAIN_HTTP);
    }
}

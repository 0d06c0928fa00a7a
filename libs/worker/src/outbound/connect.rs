//! Connections to addresses that were checked, and to no others.

use std::{
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::TlsConnector;
use tower::Service;
use url::{Host, Url};

use super::{Guard, OutboundFailure, bounded_connection::BoundedConnection};

/// Time for one connection with its TLS handshake, even when its request has got another connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an address is tried alone (RFC 8305, section 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Makes the connections of a client. The guard is asked here, at the last moment: what it answers is
/// what is connected to.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) guard: Guard,
    pub(super) tls: Arc<ClientConfig>,
    /// One for each open connection, and one more.
    pub(super) connections: Arc<()>,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<BoundedConnection>;
    type Error = OutboundFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, OutboundFailure>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OutboundFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let opened = timeout(CONNECT_TIMEOUT, connector.open(&target)).await;
            opened.unwrap_or(Err(OutboundFailure::ConnectTimeout)).map(TokioIo::new)
        })
    }
}

impl Connector {
    async fn open(self, target: &Uri) -> Result<BoundedConnection, OutboundFailure> {
        let url =
            Url::parse(&target.to_string()).map_err(|_| OutboundFailure::AddressNotAllowed)?;
        let addresses = self.guard.resolve(&url).await?;
        let tcp = connect_first(&addresses).await?;
        if let Err(error) = tcp.set_nodelay(true) {
            tracing::debug!(%error, "small requests may wait");
        }
        if url.scheme() != "https" {
            return Ok(BoundedConnection::new(Box::new(tcp), self.connections));
        }
        let name = server_name(&url).ok_or(OutboundFailure::TlsError)?;
        match TlsConnector::from(self.tls).connect(name, tcp).await {
            Ok(tls) => Ok(BoundedConnection::new(Box::new(tls), self.connections)),
            Err(error) => {
                tracing::debug!(%error, "a TLS handshake failed");
                Err(OutboundFailure::TlsError)
            }
        }
    }
}

/// The first connection that is made, the addresses being tried in turn, each with a head start.
async fn connect_first(addresses: &[SocketAddr]) -> Result<TcpStream, OutboundFailure> {
    let (mut waiting, mut attempts) = (addresses.iter(), FuturesUnordered::new());
    let mut why = OutboundFailure::ConnectRefused;
    loop {
        if let Some(next) = waiting.next() {
            attempts.push(TcpStream::connect(*next));
        }
        tokio::select! {
            attempt = attempts.next() => match attempt {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => why = OutboundFailure::of_connect_error(&error),
                None => return Err(why),
            },
            () = sleep(HEAD_START), if waiting.len() > 0 => {}
        }
    }
}

/// Whom the certificate must be for: the host as the user named it, whatever it resolved to.
fn server_name(url: &Url) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Domain(name) => {
            ServerName::try_from(name.strip_suffix('.').unwrap_or(name).to_owned()).ok()
        }
        Host::Ipv4(ip) => Some(ServerName::from(std::net::IpAddr::from(ip))),
        Host::Ipv6(ip) => Some(ServerName::from(std::net::IpAddr::from(ip))),
    }
}

//! Accepts connections and runs a session on each, until told to stop.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Config, Mailroom, Memory, Observation, Refusal,
    admission::{AdmissionControl, ConnectionTicket},
    connection,
    envelopes::Envelopes,
};

/// How long to wait when the system can't accept a connection, as when it's out of descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// An SMTP server in front of a [`Mailroom`]. One server may serve several listeners, which then
/// share its limits.
pub struct Server<M> {
    pub(crate) mailroom: Arc<M>,
    pub(crate) config: Arc<Config>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) memory: Memory,
    pub(crate) envelopes: Arc<Envelopes>,
    admission: Arc<AdmissionControl>,
    /// Listeners that were begun, and those that ended.
    begun: AtomicUsize,
    ended: AtomicUsize,
}

/// Counts the end of a listener, by a panic too.
struct Listening<'s>(&'s AtomicUsize);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether TLS starts with the connection (RFC 8314, section 3), instead of by STARTTLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// By STARTTLS, when the server has a TLS configuration.
    No,
    /// With the connection.
    Yes,
}

/// When a session must stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shutdown {
    /// As soon as no mail is coming in.
    pub(crate) soon: CancellationToken,
    /// Now.
    pub(crate) now: CancellationToken,
}

/// Listens at `address`. `backlog` connections, at least 1,024, may wait there to be accepted.
///
/// # Errors
///
/// When the system does not let it listen there.
pub fn bind(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(i32::try_from(backlog.max(1024)).unwrap_or(i32::MAX))?;
    TcpListener::from_std(socket.into())
}

/// Whether an error of accept(2) is the listener's own, so that there will be no other answer: it is no
/// socket that listens. Others pass, such as too few descriptors.
#[must_use]
pub fn is_broken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

impl<M: Mailroom> Server<M> {
    /// A server that offers TLS when it's given a configuration for it.
    #[must_use]
    pub fn new(mailroom: Arc<M>, config: Config, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        Self {
            mailroom,
            memory: Memory::new(&config.limits),
            envelopes: Envelopes::new(&config.limits),
            config: Arc::new(config),
            tls: tls.map(TlsAcceptor::from),
            admission: Arc::default(),
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
        }
    }

    /// Serves `listener` until `shutdown`. Then sessions get 421 between two commands, mails that
    /// are coming in have [`Config::drain`] to finish, and this returns once all sessions ended. It
    /// returns at once when `listener` is not listening any more.
    /// [`Implicit::Yes`] needs a TLS configuration; without one, connections are just closed.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        implicit: Implicit,
        shutdown: CancellationToken,
    ) {
        let shutdown = Shutdown { soon: shutdown, ..Shutdown::default() };
        let sessions = TaskTracker::new();
        self.begun.fetch_add(1, Ordering::Relaxed);
        let listening = Listening(&self.ended);
        loop {
            tokio::select! {
                biased;
                () = shutdown.soon.cancelled() => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.admit(stream, peer, implicit, &shutdown, &sessions),
                    Err(error) if is_broken(&error) => {
                        tracing::error!(%error, "the listener is broken");
                        return;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                },
            }
        }
        drop((listener, listening));
        sessions.close();
        if time::timeout(self.config.drain, sessions.wait()).await.is_err() {
            shutdown.now.cancel();
            sessions.wait().await;
        }
    }

    /// Whether every listener that this server has is being listened on.
    #[must_use]
    pub fn is_listening(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0 && self.ended.load(Ordering::Relaxed) == 0
    }

    /// Octets reserved for mail bodies at this moment.
    #[must_use]
    pub fn memory_reserved(&self) -> usize {
        self.memory.reserved()
    }

    fn admit(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        implicit: Implicit,
        shutdown: &Shutdown,
        sessions: &TaskTracker,
    ) {
        let address = peer.ip().to_canonical();
        let limits = &self.config.limits;
        let ticket = match self.config.proxy_protocol {
            Some(_) => self.admission.admit_unknown(limits),
            None => self.admission.admit(address, limits),
        };
        match ticket {
            Ok(ticket) => {
                let (server, shutdown) = (Arc::clone(self), shutdown.clone());
                let session = async move {
                    let (mut stream, mut ticket) = (stream, ticket);
                    let client = server.introduced(&mut stream, address, &mut ticket, implicit);
                    if let Some(Some(client)) = shutdown.soon.run_until_cancelled(client).await {
                        connection::run(&server, stream, client, implicit, shutdown).await;
                    }
                };
                sessions.spawn(session);
            }
            Err(refusal) => self.turn_away(&stream, address, implicit, refusal),
        }
    }

    /// Whose connection it is: where load balancers say that, the client whom they name. Nobody's when it
    /// is to be closed.
    async fn introduced(
        &self,
        stream: &mut TcpStream,
        peer: IpAddr,
        ticket: &mut ConnectionTicket,
        implicit: Implicit,
    ) -> Option<IpAddr> {
        let Some(proxy) = &self.config.proxy_protocol else { return Some(peer) };
        match proxy.client(stream, peer).await {
            Ok(client) => match ticket.name(client, &self.config.limits) {
                Ok(()) => Some(client),
                Err(refusal) => {
                    self.turn_away(stream, client, implicit, refusal);
                    None
                }
            },
            Err(fault) => {
                self.mailroom.observe(peer, Observation::ProxyRefused(fault));
                None
            }
        }
    }

    fn turn_away(&self, stream: &TcpStream, client: IpAddr, implicit: Implicit, refusal: Refusal) {
        self.mailroom.observe(client, Observation::ConnectionRefused(refusal));
        say_why(stream, implicit);
    }
}

/// Says why, if that can be done at once and in the clear.
fn say_why(stream: &TcpStream, implicit: Implicit) {
    if implicit == Implicit::No {
        let sent =
            SockRef::from(stream).send(b"421 4.7.0 too many connections, try again later\r\n");
        if let Err(error) = sent {
            tracing::debug!(%error, "cannot tell a client that it is turned away");
        }
    }
}

impl<M> fmt::Debug for Server<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("config", &self.config).finish_non_exhaustive()
    }
}

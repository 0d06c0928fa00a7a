//! The relay: a mail server of the operator's that brings mail on.

mod reply;
mod session;

use std::time::Duration;

use async_trait::async_trait;
use lettre::transport::smtp::{
    authentication::Credentials,
    client::{Certificate, TlsParameters},
    extension::ClientId,
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};
use trapline_app::{Parcel, Relay, Stage, Trouble};

use session::Session;

/// Connections to the relay at once.
const AT_ONCE: usize = 4;
/// From connect to the answer to the message, and more for each part of a large one.
const DEADLINE: Duration = Duration::from_mins(1);
/// For the answer to QUIT.
const GOODBYE: Duration = Duration::from_secs(2);
const PART: usize = 256 * 1024;
const PER_PART: Duration = Duration::from_secs(1);

/// How the connection is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayTls {
    /// Not at all.
    None,
    /// STARTTLS if the relay offers it (RFC 3207).
    Opportunistic,
    /// STARTTLS, or no mail.
    Starttls,
    /// TLS from the first byte on (RFC 8314).
    Implicit,
}

/// Where the relay is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// Its host name or address, which its certificate must name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is secured.
    pub tls: RelayTls,
    /// User name and password, if it wants them.
    pub credentials: Option<(String, String)>,
    /// Who this server says it is (EHLO).
    pub hello: String,
    /// Certificate authorities to trust beside the built-in ones, each in DER.
    pub authorities: Vec<Vec<u8>>,
    /// The time for one message, but for the parts of a large one; a minute but in tests.
    pub deadline: Duration,
}

impl RelayOptions {
    /// A relay without TLS and sign-in.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.to_owned(),
            port,
            tls: RelayTls::None,
            credentials: None,
            hello: "localhost".to_owned(),
            authorities: Vec::new(),
            deadline: DEADLINE,
        }
    }
}

/// Speaks SMTP to the relay: a connection for each message, four at once.
pub struct SmtpRelay {
    host: String,
    port: u16,
    tls: RelayTls,
    parameters: TlsParameters,
    credentials: Option<Credentials>,
    hello: ClientId,
    deadline: Duration,
    slots: Semaphore,
}

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
#[error("the relay's certificate authorities: {0}")]
pub struct BadRelay(#[from] lettre::transport::smtp::Error);

impl SmtpRelay {
    /// Connects to nothing yet.
    pub fn new(options: RelayOptions) -> Result<Self, BadRelay> {
        let mut parameters = TlsParameters::builder(options.host.clone());
        for authority in options.authorities {
            parameters = parameters.add_root_certificate(Certificate::from_der(authority)?);
        }
        Ok(Self {
            parameters: parameters.build()?,
            host: options.host,
            port: options.port,
            tls: options.tls,
            credentials: options.credentials.map(Credentials::from),
            hello: ClientId::Domain(options.hello),
            deadline: options.deadline,
            slots: Semaphore::new(AT_ONCE),
        })
    }

    async fn transaction(&self, parcel: &Parcel) -> Result<(), Trouble> {
        let parts = u32::try_from(parcel.len() / PART).unwrap_or(u32::MAX);
        // One deadline over everything: the client's own covers the connection only.
        let until = Instant::now() + self.deadline + PER_PART * parts;
        let timed_out = |_| Err(reply::TIMEOUT);
        let mut session = timeout_at(until, Session::open(self)).await.unwrap_or_else(timed_out)?;
        let taken = timeout_at(until, session.deliver(parcel)).await.unwrap_or(Err(reply::TIMEOUT));
        // What the relay said of the message stands, whether it says goodbye or not.
        if timeout(GOODBYE.min(self.deadline), session.close()).await.is_err() {
            tracing::debug!("the relay did not answer QUIT");
        }
        taken
    }
}

#[async_trait]
impl Relay for SmtpRelay {
    async fn send(&self, parcel: &Parcel) -> Result<(), Trouble> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(reply::lost(Stage::Connection));
        };
        self.transaction(parcel).await
    }
}

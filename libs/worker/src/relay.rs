//! The relay: the operator's SMTP server that outgoing mail is handed to.

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
use trapline_app::{OutgoingMail, Relay, RelayError, RelayStage};

use session::RelaySession;

/// Connections to the relay at once.
const MAX_CONNECTIONS: usize = 4;
/// Time from connecting to the answer to the message; a large one has [`DEADLINE_PER_STEP`] more for each
/// [`DEADLINE_STEP_BYTES`].
const DEADLINE: Duration = Duration::from_mins(1);
/// How long the answer to QUIT is waited for.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
const DEADLINE_STEP_BYTES: usize = 256 * 1024;
const DEADLINE_PER_STEP: Duration = Duration::from_secs(1);

/// How the connection is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayTls {
    /// The connection is not encrypted.
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
    /// The relay's port.
    pub port: u16,
    /// How the connection is secured.
    pub tls: RelayTls,
    /// User name and password, if it wants them.
    pub credentials: Option<(String, String)>,
    /// Who this server says it is (EHLO).
    pub ehlo_name: String,
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
            ehlo_name: "localhost".to_owned(),
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
    ehlo_name: ClientId,
    deadline: Duration,
    slots: Semaphore,
}

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
#[error("the relay's certificate authorities: {0}")]
pub struct RelayConfigError(#[from] lettre::transport::smtp::Error);

impl SmtpRelay {
    /// Connects to nothing yet.
    pub fn new(options: RelayOptions) -> Result<Self, RelayConfigError> {
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
            ehlo_name: ClientId::Domain(options.ehlo_name),
            deadline: options.deadline,
            slots: Semaphore::new(MAX_CONNECTIONS),
        })
    }

    async fn transaction(&self, mail: &OutgoingMail) -> Result<(), RelayError> {
        let parts = u32::try_from(mail.len() / DEADLINE_STEP_BYTES).unwrap_or(u32::MAX);
        // One deadline over everything: the client's own covers the connection only.
        let until = Instant::now() + self.deadline + DEADLINE_PER_STEP * parts;
        let timed_out = |_| Err(reply::TIMEOUT);
        let mut session =
            timeout_at(until, RelaySession::open(self)).await.unwrap_or_else(timed_out)?;
        let taken = timeout_at(until, session.deliver(mail)).await.unwrap_or(Err(reply::TIMEOUT));
        // What the relay said of the message stands, whether it says goodbye or not.
        if timeout(QUIT_TIMEOUT.min(self.deadline), session.close()).await.is_err() {
            tracing::debug!("the relay did not answer QUIT");
        }
        taken
    }
}

#[async_trait]
impl Relay for SmtpRelay {
    async fn send(&self, mail: &OutgoingMail) -> Result<(), RelayError> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(reply::lost(RelayStage::Connection));
        };
        self.transaction(mail).await
    }
}

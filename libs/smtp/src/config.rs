//! Settings of the edge and the bounds on everything a client can make it hold.

use std::time::Duration;

use crate::ProxyProtocol;

/// Settings of a [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct Config {
    /// The name the server greets with; printable ASCII.
    pub hostname: String,
    /// Bounds on connections, commands, mails and time.
    pub limits: Limits,
    /// Whether AUTH is refused before TLS. Off: test networks send passwords in the clear.
    pub auth_requires_tls: bool,
    /// Whether MAIL is refused before AUTH (530).
    pub require_auth: bool,
    /// How long open transactions may take to finish at shutdown.
    pub drain: Duration,
    /// Whether load balancers say who the client is; `None` takes the peer for it.
    pub proxy_protocol: Option<ProxyProtocol>,
}

impl Config {
    /// The default settings under the name `hostname`.
    pub fn new(hostname: impl Into<String>) -> Self {
        Self {
            hostname: hostname.into(),
            limits: Limits::default(),
            auth_requires_tls: false,
            require_auth: false,
            drain: Duration::from_secs(20),
            proxy_protocol: None,
        }
    }
}

/// Bounds on what clients can make the server hold. Sizes are octets.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once; the next one gets 421 and is closed.
    pub connections: usize,
    /// Connections at once from one address; of IPv6, from one /64.
    pub per_address: usize,
    /// A command line without its line end (RFC 5321, section 4.5.3.1.4, asks for 512 at least).
    /// AUTH commands and responses may have 12,288 octets anyway (RFC 4954, section 4).
    pub command_line: usize,
    /// A mail as it is stored; announced as SIZE (RFC 1870).
    pub message_size: usize,
    /// Recipients of one mail (RFC 5321, section 4.5.3.1.8, asks for 100 at least).
    pub recipients: usize,
    /// The addresses of all recipients of one mail together.
    pub envelope: usize,
    /// Faulty commands before the session is closed with 421.
    pub errors: u32,
    /// Mail bodies in memory, over all sessions. Raised to `message_size` when below it.
    pub memory: usize,
    /// The part of it, in percent, that mail from one address and mail for one inbox may have.
    pub memory_share: usize,
    /// The longest silence of a client whose mail holds memory that others wait for.
    pub contended_idle: Duration,
    /// How many octets a second such a mail must come in with, after `contended_idle`.
    pub contended_rate: usize,
    /// Time between commands, once the client signed in or sent a mail.
    pub idle: Duration,
    /// Time between commands before that.
    pub idle_before_auth: Duration,
    /// Time between two reads inside a mail.
    pub data_idle: Duration,
    /// Time for one whole mail, waiting for memory included.
    pub data_total: Duration,
    /// Age of a session after which it's closed between two commands.
    pub session_total: Duration,
    /// Time for a client to take the replies.
    pub write: Duration,
    /// Time for a TLS handshake.
    pub handshake: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            per_address: 10_000,
            command_line: 4096,
            message_size: 25 << 20,
            recipients: 1000,
            envelope: 256 << 10,
            errors: 20,
            memory: 256 << 20,
            memory_share: 50,
            contended_idle: Duration::from_secs(5),
            contended_rate: 512 << 10,
            idle: Duration::from_mins(5),
            idle_before_auth: Duration::from_mins(1),
            data_idle: Duration::from_mins(1),
            data_total: Duration::from_mins(10),
            session_total: Duration::from_hours(1),
            write: Duration::from_mins(1),
            handshake: Duration::from_secs(30),
        }
    }
}

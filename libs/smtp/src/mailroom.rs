//! What the edge asks of the rest of the product.

use std::{fmt, net::IpAddr, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

use crate::Reject;

/// Decides who may sign in, which recipients exist, and what becomes of a mail.
#[async_trait]
pub trait Mailroom: Send + Sync + 'static {
    /// Who a session is after AUTH.
    type Account: Clone + Send + Sync;
    /// What an accepted recipient resolves to.
    type Route: Send + Sync;

    /// Checks credentials. Rejected with [`Reject::bad_credentials`] when they're wrong.
    async fn authenticate(&self, login: &Login, peer: IpAddr) -> Result<Self::Account, Reject>;

    /// Whether who signed in may still send; asked at each MAIL. A permanent rejection signs the
    /// session out.
    async fn confirm(&self, _account: &Self::Account) -> Result<(), Reject> {
        Ok(())
    }

    /// Resolves the address of a RCPT command, as the client wrote it, without its route.
    async fn accept(
        &self,
        account: Option<&Self::Account>,
        recipient: &str,
        peer: IpAddr,
    ) -> Result<Self::Route, Reject>;

    /// Whether a mail that is announced to have so many octets may come for a route (RFC 1870, section
    /// 6.1); asked at each RCPT of such a mail.
    async fn may_come(&self, _route: &Self::Route, _octets: u64) -> Result<(), Reject> {
        Ok(())
    }

    /// The inbox behind a route: a number that no other inbox has. Memory is shared out by it.
    fn inbox(&self, route: &Self::Route) -> u128;

    /// Takes over a mail; `Ok` means that it's kept for good. Its memory counts as in use until
    /// this returns.
    async fn deliver(
        &self,
        account: Option<&Self::Account>,
        mail: Mail<Self::Route>,
    ) -> Result<Receipt, Reject>;

    /// Is told what happens in a session with `peer`, for metrics and logs.
    fn observe(&self, _peer: IpAddr, _event: Observation) {}
}

/// Credentials as a SASL mechanism carries them.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// AUTH PLAIN (RFC 4616) and AUTH LOGIN.
    Plain {
        /// The authentication identity.
        username: String,
        /// The password, as the client sent it.
        password: String,
    },
    /// AUTH CRAM-MD5 (RFC 2195).
    CramMd5 {
        /// The authentication identity.
        username: String,
        /// What the server sent: the text that the client keyed.
        challenge: String,
        /// HMAC-MD5 of the challenge under the password.
        digest: [u8; 16],
    },
}

impl Login {
    /// The authentication identity.
    #[must_use]
    pub fn username(&self) -> &str {
        match self {
            Self::Plain { username, .. } | Self::CramMd5 { username, .. } => username,
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mechanism = match self {
            Self::Plain { .. } => "Plain",
            Self::CramMd5 { .. } => "CramMd5",
        };
        f.debug_struct(mechanism).field("username", &self.username()).finish_non_exhaustive()
    }
}

/// A mail with its envelope.
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the protocol")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail<R> {
    /// The reverse-path; `""` for the null path of bounces.
    pub from: String,
    /// The accepted recipients in order, each with what it resolved to.
    pub recipients: Vec<(String, R)>,
    /// What followed DATA, dot-unstuffed, or the chunks of BDAT: byte for byte, nothing prepended.
    pub body: Bytes,
    /// Whether MAIL said `BODY=8BITMIME` (RFC 6152).
    pub eight_bit: bool,
    /// Whether MAIL said `SMTPUTF8` (RFC 6531).
    pub smtputf8: bool,
    /// Whether MAIL said `REQUIRETLS` (RFC 8689).
    pub require_tls: bool,
    /// Whether the session is encrypted.
    pub tls: bool,
    /// What the client called itself in EHLO or HELO.
    pub helo: String,
    /// Where the client connected from.
    pub peer: IpAddr,
}

/// What a delivered mail is kept as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// One id per stored copy; the reply names as many as fit.
    pub ids: Vec<String>,
}

/// Something worth counting. Carries no addresses and no secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// A connection was accepted.
    SessionOpened,
    /// A session ended, after so long.
    SessionClosed(Duration),
    /// A client is sent a reply with this code.
    Replied(u16),
    /// A connection was turned away.
    ConnectionRefused(Refusal),
    /// A connection was closed because it did not begin as the PROXY protocol wants it.
    ProxyRefused(ProxyFault),
    /// A TLS handshake failed or took too long.
    HandshakeFailed,
    /// A client signed in.
    Authenticated,
    /// A client's credentials were refused, with this code.
    AuthenticationFailed(u16),
    /// A recipient was refused, with this code.
    RecipientRejected(u16),
    /// A mail was kept.
    MessageAccepted {
        /// Its size in octets.
        octets: usize,
        /// How long the mailroom took.
        elapsed: Duration,
    },
    /// A complete mail was refused by the mailroom, with this code.
    MessageRejected(u16),
    /// A command, or a mail for its size, was refused without asking the mailroom.
    Refused {
        /// The command.
        stage: Stage,
        /// The reply's code.
        code: u16,
    },
    /// A mail was cut off because no memory came free in time.
    OutOfMemory,
    /// A mail was cut off because it came in slowly while others waited for its memory.
    TooSlow,
    /// A session was cut because its client was silent or slow.
    TimedOut,
}

/// Where in a session something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// AUTH.
    Auth,
    /// MAIL.
    Mail,
    /// RCPT.
    Rcpt,
    /// DATA or BDAT, and what follows them.
    Data,
    /// Any other command.
    Other,
}

/// What was wrong with the begin of a connection that a load balancer has to introduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyFault {
    /// It is not from a load balancer.
    Untrusted,
    /// What came was no header, was too long, or was cut off.
    NoHeader,
    /// The header was not whole after 5 seconds.
    Timeout,
}

/// Which bound turned a connection away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// [`Limits::connections`](crate::Limits::connections).
    Connections,
    /// [`Limits::per_address`](crate::Limits::per_address).
    PerAddress,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Knows nobody and takes nothing.
    pub(crate) struct Nobody;

    #[async_trait]
    impl Mailroom for Nobody {
        type Account = ();
        type Route = ();

        async fn authenticate(&self, _: &Login, _: IpAddr) -> Result<(), Reject> {
            Err(Reject::bad_credentials())
        }

        async fn accept(&self, _: Option<&()>, _: &str, _: IpAddr) -> Result<(), Reject> {
            Err(Reject::unknown_mailbox())
        }

        fn inbox(&self, (): &()) -> u128 {
            0
        }

        async fn deliver(&self, _: Option<&()>, _: Mail<()>) -> Result<Receipt, Reject> {
            Err(Reject::temporary("nobody is here"))
        }
    }
}

//! Who checks SPF, DKIM and DMARC.

use std::{net::IpAddr, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use trapline_model::{AuthReport, DnsSource, DnsZone, Time};

/// Checks a message by DNS that it is given, by name servers, or by neither.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// What SPF, DKIM and DMARC say. What has no answer within `deadline` is unknown, and says so.
    ///
    /// # Errors
    ///
    /// When the message is one that the library cannot take.
    async fn authenticate(
        &self,
        mail: AuthMail,
        dns: AuthDns,
        deadline: Duration,
    ) -> Result<AuthReport, AuthUnreadable>;
}

/// A message, and how it is taken to have come.
#[derive(Debug, Clone)]
pub struct AuthMail {
    /// Its bytes.
    pub raw: Bytes,
    /// The sender of its envelope; `""` for a bounce.
    pub sender: String,
    /// Where it is taken to have come from.
    pub client_ip: Option<IpAddr>,
    /// The name by which that server greets.
    pub helo: Option<String>,
    /// The time of the check.
    pub now: Time,
}

/// Where DNS comes from.
#[derive(Debug, Clone)]
pub enum AuthDns {
    /// These records, and nothing else; no packet leaves this machine.
    Zone(DnsZone),
    /// The name servers of the system.
    System,
    /// Nowhere.
    None,
}

impl AuthDns {
    /// What a report calls it.
    #[must_use]
    pub fn source(&self) -> DnsSource {
        match self {
            Self::Zone(_) => DnsSource::Zone,
            Self::System => DnsSource::Dns,
            Self::None => DnsSource::None,
        }
    }
}

/// The library behind the check cannot take a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthUnreadable;

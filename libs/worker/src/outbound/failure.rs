//! The failures of outbound requests.

use std::{error::Error, io, iter::successors};

use super::Refusal;

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutboundFailure {
    /// The name has no address, or no name server answered in time.
    #[error("the name was not resolved")]
    DnsError,
    /// Nobody took the connection.
    #[error("the connection was refused")]
    ConnectRefused,
    /// The connection, with its TLS handshake, was not made in time.
    #[error("the connection was not made in time")]
    ConnectTimeout,
    /// No TLS connection with a certificate that holds.
    #[error("the TLS connection was not made")]
    TlsError,
    /// Connected, but no status line in time.
    #[error("no answer in time")]
    Timeout,
    /// The connection ended before the status line, or what came was no HTTP answer within bounds.
    #[error("the connection broke off")]
    Reset,
    /// The address is not one that this service connects to.
    #[error("the address is not allowed")]
    AddressNotAllowed,
}

impl OutboundFailure {
    /// A stable word, for logs and the API.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::DnsError => "dns_error",
            Self::ConnectRefused => "connect_refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::TlsError => "tls_error",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::AddressNotAllowed => "address_not_allowed",
        }
    }

    /// Whether a later try would end the same.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::AddressNotAllowed)
    }

    /// What stands behind an error of the HTTP client.
    pub(super) fn of_client_error(error: &(dyn Error + 'static)) -> Self {
        successors(Some(error), |&error| error.source()).find_map(as_failure).unwrap_or(Self::Reset)
    }

    /// Why a TCP connection was not made.
    pub(super) fn of_connect_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::ConnectTimeout,
            _ => Self::ConnectRefused,
        }
    }
}

fn as_failure(error: &(dyn Error + 'static)) -> Option<OutboundFailure> {
    if let Some(failure) = error.downcast_ref::<OutboundFailure>() {
        return Some(*failure);
    }
    // With TLS 1.3 a server's refusal may come after its handshake.
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    inner.is::<rustls::Error>().then_some(OutboundFailure::TlsError)
}

impl From<Refusal> for OutboundFailure {
    fn from(_: Refusal) -> Self {
        Self::AddressNotAllowed
    }
}

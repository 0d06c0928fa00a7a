//! Why the queue cannot be used.

use crate::UrlError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why connecting or setting up failed. No text holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JetStreamError {
    /// The URL cannot be understood.
    #[error("the URL of NATS is wrong: {0}")]
    Address(#[from] UrlError),
    /// The namespace is not a word of `[a-z][a-z0-9_]{0,31}`.
    #[error("the namespace is not a word of a-z, 0-9 and _, at most 32 long, a letter first")]
    Namespace,
    /// A file that the address names cannot be read.
    #[error("NATS: cannot read {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// No server can be reached, or none lets this client in.
    #[error("NATS at {servers}: {source}")]
    Connect {
        /// Hosts and ports.
        servers: String,
        /// What the client says.
        source: Source,
    },
    /// The server knows no scheduled messages.
    #[error("NATS at {servers} is version {found}; 2.12 or newer is needed")]
    TooOld {
        /// Hosts and ports.
        servers: String,
        /// What the server calls itself.
        found: String,
    },
    /// The stream or a consumer is missing, or of an older make.
    #[error("NATS at {servers} has no {missing}: run `trapline migrate`")]
    NotMigrated {
        /// Hosts and ports.
        servers: String,
        /// What is missing.
        missing: String,
    },
    /// JetStream is off, has no leader, or refuses.
    #[error("JetStream at {servers}: {what}: {source}")]
    Refused {
        /// Hosts and ports.
        servers: String,
        /// What was asked of it.
        what: String,
        /// What it said.
        source: Source,
    },
}

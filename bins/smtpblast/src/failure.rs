//! What can go wrong with a transaction, in a form that can be counted.

use std::{fmt, io};

use crate::reply::Malformed;

/// Where in the dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// TCP, up to the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// The server's first line.
    Greeting,
    /// EHLO.
    Ehlo,
    /// STARTTLS.
    StartTls,
    /// AUTH and its challenges.
    Auth,
    /// MAIL FROM.
    Mail,
    /// RCPT TO.
    Rcpt,
    /// DATA, up to 354.
    Data,
    /// The message, up to the reply that says it is stored.
    Content,
    /// RSET after a refusal.
    Reset,
    /// NOOP.
    Noop,
    /// QUIT.
    Quit,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// The limit of one operation passed.
    Timeout,
    /// The server closed the connection.
    Closed,
    /// The operating system's error.
    Io(io::ErrorKind),
    /// A reply code that refuses.
    Reply(u16),
    /// Not SMTP.
    Malformed,
    /// The server does not offer what was asked for.
    NotOffered,
}

/// One failed transaction or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{stage}: {cause}")]
pub(crate) struct Failure {
    /// Where.
    pub(crate) stage: Stage,
    /// Why.
    pub(crate) cause: Cause,
}

impl Failure {
    pub(crate) fn new(stage: Stage, cause: Cause) -> Self {
        Self { stage, cause }
    }

    /// Whether the dialogue can go on: the server refused, and does not close (421).
    pub(crate) fn keeps_connection(self) -> bool {
        matches!(self.cause, Cause::Reply(code) if code != 421)
    }
}

impl Cause {
    /// By the system's error; an end of stream is the server's closing.
    pub(crate) fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            kind => Self::Io(kind),
        }
    }
}

impl From<Malformed> for Cause {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Tls => "TLS",
            Self::Greeting => "greeting",
            Self::Ehlo => "EHLO",
            Self::StartTls => "STARTTLS",
            Self::Auth => "AUTH",
            Self::Mail => "MAIL",
            Self::Rcpt => "RCPT",
            Self::Data => "DATA",
            Self::Content => "content",
            Self::Reset => "RSET",
            Self::Noop => "NOOP",
            Self::Quit => "QUIT",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("timed out"),
            Self::Closed => f.write_str("closed by the server"),
            Self::Io(kind) => write!(f, "{kind}"),
            Self::Reply(code) => write!(f, "{code}"),
            Self::Malformed => f.write_str("not an SMTP reply"),
            Self::NotOffered => f.write_str("not offered by the server"),
        }
    }
}

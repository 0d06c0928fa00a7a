//! What an answer of the relay, or its absence, means.

use lettre::transport::smtp::{Error, response::Severity};
use trapline_app::{Stage, Trouble};

pub(super) const TIMEOUT: Trouble =
    Trouble { code: "timeout", is_final: false, stage: Stage::Connection };

/// The connection broke off, or what came is not SMTP.
pub(super) fn lost(stage: Stage) -> Trouble {
    Trouble { code: "connection_lost", is_final: false, stage }
}

/// No connection, or none that is secured and signed in to as it must be. A relay that refuses even
/// that refuses every message: the operator can mend it, so no message is given up at once.
pub(super) fn of_connection(error: &Error) -> Trouble {
    let code = match error.status() {
        Some(code) if code.severity == Severity::PermanentNegativeCompletion => "refused_5xx",
        Some(_) => "refused_4xx",
        None if error.is_timeout() => "timeout",
        None if error.is_tls() => "tls_error",
        None if error.is_client() => "not_offered",
        None if error.is_response() => "connection_lost",
        None => "connect_failed",
    };
    Trouble { code, is_final: false, stage: Stage::Connection }
}

/// TLS did not begin. The client tells a failed handshake from a lost connection only in words.
pub(super) fn of_tls(error: &Error) -> Trouble {
    match of_connection(error) {
        Trouble { code: "connect_failed" | "connection_lost", is_final, stage } => {
            Trouble { code: "tls_error", is_final, stage }
        }
        trouble => trouble,
    }
}

/// The relay said no to one message: for good (5xx), or for now (4xx).
pub(super) fn of_message(error: &Error, stage: Stage) -> Trouble {
    match error.status() {
        Some(code) if code.severity == Severity::PermanentNegativeCompletion => {
            Trouble { code: "smtp_5xx", is_final: true, stage }
        }
        Some(_) => Trouble { code: "smtp_4xx", is_final: false, stage },
        None => lost(Stage::Connection),
    }
}

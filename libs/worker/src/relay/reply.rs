//! Maps the relay's replies, and failures of the connection, to [`RelayError`].

use lettre::transport::smtp::{Error, response::Severity};
use trapline_app::{RelayError, RelayStage};

pub(super) const TIMEOUT: RelayError =
    RelayError { code: "timeout", is_final: false, stage: RelayStage::Connection };

/// The connection broke off, or what came is not SMTP.
pub(super) fn lost(stage: RelayStage) -> RelayError {
    RelayError { code: "connection_lost", is_final: false, stage }
}

/// No connection, or none that is secured and signed in to as it must be. A relay that refuses even
/// that refuses every message: the operator can mend it, so no message is given up at once.
pub(super) fn of_connection(error: &Error) -> RelayError {
    let code = match error.status() {
        Some(code) if code.severity == Severity::PermanentNegativeCompletion => "refused_5xx",
        Some(_) => "refused_4xx",
        None if error.is_timeout() => "timeout",
        None if error.is_tls() => "tls_error",
        None if error.is_client() => "not_offered",
        None if error.is_response() => "connection_lost",
        None => "connect_failed",
    };
    RelayError { code, is_final: false, stage: RelayStage::Connection }
}

/// TLS did not begin. The client tells a failed handshake from a lost connection only in words.
pub(super) fn of_tls(error: &Error) -> RelayError {
    match of_connection(error) {
        RelayError { code: "connect_failed" | "connection_lost", is_final, stage } => {
            RelayError { code: "tls_error", is_final, stage }
        }
        error => error,
    }
}

/// The relay said no to one message: for good (5xx), or for now (4xx).
pub(super) fn of_message(error: &Error, stage: RelayStage) -> RelayError {
    match error.status() {
        Some(code) if code.severity == Severity::PermanentNegativeCompletion => {
            RelayError { code: "smtp_5xx", is_final: true, stage }
        }
        Some(_) => RelayError { code: "smtp_4xx", is_final: false, stage },
        None => lost(RelayStage::Connection),
    }
}

//! What an object store's errors mean to the application.

use object_store::Error;
use trapline_store::PortError;

/// Whether the object is not there. A bucket that is not there answers with the same status, and
/// must not make every segment look lost.
pub(super) fn is_absent(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. }) && !error.to_string().contains("NoSuchBucket")
}

/// Whether another try may end better.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Generic { .. } | Error::AlreadyExists { .. } | Error::JoinError { .. })
}

/// An object under this name has other bytes than ours.
pub(super) fn port_error(error: Error) -> PortError {
    match error {
        Error::AlreadyExists { .. } => PortError::Conflict,
        error => PortError::unavailable(error),
    }
}

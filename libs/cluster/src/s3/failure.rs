//! What an object store's errors mean to the application.

use std::{error, io};

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

/// Whether a folder's disk has no room.
fn is_full(error: &(dyn error::Error + 'static)) -> bool {
    let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    let here = error.downcast_ref::<io::Error>().is_some_and(|it| kinds.contains(&it.kind()));
    here || error.source().is_some_and(is_full)
}

/// An object under this name has other bytes than ours.
pub(super) fn port_error(error: Error) -> PortError {
    match error {
        Error::AlreadyExists { .. } => PortError::Conflict,
        error if is_full(&error) => PortError::StorageFull,
        error => PortError::unavailable(error),
    }
}

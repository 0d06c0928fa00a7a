//! What goes wrong with a server, in words for an operator and in the port's terms.

use std::error::Error;

use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, ExecutionError,
    MetadataError, NewSessionError, RequestAttemptError,
};
use trapline_store::PortError;

use crate::UrlError;

type Source = Box<dyn Error + Send + Sync>;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CqlError {
    /// The URL cannot be understood.
    #[error("the URL of the CQL store is wrong: {0}")]
    Address(#[from] UrlError),
    /// The keyspace's name cannot be used.
    #[error("{0:?} cannot name a CQL keyspace: it must be [a-z][a-z0-9_]*, up to 32 long")]
    KeyspaceName(String),
    /// No host of the address takes connections.
    #[error("no CQL server answers at {hosts}: {source}")]
    Unreachable {
        /// The hosts of the address.
        hosts: String,
        /// The error of the last attempt to connect.
        source: Source,
    },
    /// The user name or the password is wrong, or missing.
    #[error("the CQL server at {hosts} refused the user name or password, or none was given")]
    Credentials {
        /// The hosts of the address.
        hosts: String,
    },
    /// TLS cannot be set up.
    #[error("TLS to the CQL server cannot be set up: {0}")]
    Tls(#[source] Source),
    /// The cluster has no such data centre.
    #[error("the CQL cluster has no data centre {asked:?}, but {known}")]
    Datacenter {
        /// The data centre that the URL names.
        asked: String,
        /// The data centres of the cluster.
        known: String,
    },
    /// There are fewer nodes than copies to keep.
    #[error(
        "replication={asked} needs as many CQL nodes, and data centre {datacenter} has {nodes}"
    )]
    Replication {
        /// The copies of each row.
        asked: u8,
        /// The data centre that is to keep them.
        datacenter: String,
        /// How many nodes that has.
        nodes: usize,
    },
    /// The keyspace has not been created.
    #[error("the CQL keyspace {0} does not exist: run `trapline migrate`")]
    NoKeyspace(String),
    /// A table has not been created, or has other columns.
    #[error("the CQL table {keyspace}.{table} {problem}: run `trapline migrate`")]
    Table {
        /// The table's keyspace.
        keyspace: String,
        /// The table's name.
        table: &'static str,
        /// What is wrong with the table.
        problem: String,
    },
    /// The server refused something, or did not answer.
    #[error("the CQL server could not {action}: {source}")]
    Failed {
        /// The request, as a verb.
        action: &'static str,
        /// The server's answer, or the lack of one.
        source: Source,
    },
}

impl CqlError {
    /// Wraps an error of the driver.
    pub(super) fn failed<E: Into<Source>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Failed { action, source: source.into() }
    }

    /// Says why there is no session.
    pub(super) fn no_session(hosts: String, error: NewSessionError) -> Self {
        if refused_login(&error) {
            return Self::Credentials { hosts };
        }
        Self::Unreachable { hosts, source: error.into() }
    }
}

fn refused_login(error: &NewSessionError) -> bool {
    let NewSessionError::MetadataError(MetadataError::ConnectionPoolError(
        ConnectionPoolError::Broken {
            last_connection_error: ConnectionError::ConnectionSetupRequestError(setup),
        },
    )) = error
    else {
        return false;
    };
    matches!(
        setup.get_error(),
        ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, _)
            | ConnectionSetupRequestErrorKind::MissingAuthentication
    )
}

/// A failed request in the port's terms.
pub(super) fn port_error(error: ExecutionError) -> PortError {
    match &error {
        ExecutionError::RequestTimeout(_)
        | ExecutionError::LastAttemptError(RequestAttemptError::DbError(
            DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. },
            _,
        )) => PortError::Timeout,
        _ => PortError::unavailable(error),
    }
}

/// Whether a conditional write that ended like this may have been applied, or may yet be.
pub(super) fn is_ambiguous(error: &ExecutionError) -> bool {
    match error {
        ExecutionError::RequestTimeout(_)
        | ExecutionError::LastAttemptError(RequestAttemptError::BrokenConnectionError(_)) => true,
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(answer, _)) => matches!(
            answer,
            DbError::WriteTimeout { .. }
                | DbError::WriteFailure { .. }
                | DbError::ReadTimeout { .. }
                | DbError::ReadFailure { .. }
                | DbError::ServerError
                | DbError::Other(_)
        ),
        _ => false,
    }
}

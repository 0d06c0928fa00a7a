//! Which server it is.

use scylla::{
    client::session::Session,
    errors::{DbError, ExecutionError, RequestAttemptError},
    statement::{Consistency, Statement},
};

use super::CqlError;

/// The release whose tablets first took lightweight transactions.
const TRANSACTIONS_ON_TABLETS: (u32, u32) = (2025, 4);

/// What is known of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// Apache Cassandra, or a server that looks like it.
    Cassandra,
    /// ScyllaDB, by its major and minor version. `(0, 0)` if those cannot be read.
    Scylla(u32, u32),
}

impl Server {
    /// Asks the server.
    pub(super) async fn probe(session: &Session) -> Result<Self, CqlError> {
        // A table that only ScyllaDB has.
        let mut ask = Statement::new("SELECT version FROM system.versions WHERE key = 'local'");
        ask.set_consistency(Consistency::LocalOne);
        ask.set_is_idempotent(true);
        let answer = match session.query_unpaged(ask, ()).await {
            Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(
                DbError::Invalid,
                _,
            ))) => return Ok(Self::Cassandra),
            answer => answer.map_err(CqlError::failed("tell its version"))?,
        };
        let rows = answer.into_rows_result().map_err(CqlError::failed("tell its version"))?;
        let found = rows.maybe_first_row::<(Option<String>,)>();
        let version = found.map_err(CqlError::failed("tell its version"))?.and_then(|row| row.0);
        Ok(Self::scylla(version.as_deref().unwrap_or_default()))
    }

    /// ScyllaDB by a version such as `2025.3.1-0.20250907.2bbf3cf669bb` or `6.2.0`.
    pub(super) fn scylla(version: &str) -> Self {
        let mut parts = version.split(['.', '-']).map_while(|part| part.parse().ok());
        Self::Scylla(parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    }

    /// Whether a keyspace must be created without tablets: they are what it gets by default, and
    /// take no lightweight transactions. Releases before 6.0 and 2024.2 do not know the option.
    pub(super) fn needs_tablets_off(self) -> bool {
        match self {
            Self::Cassandra => false,
            Self::Scylla(major, minor) if major >= 2000 => {
                ((2024, 2)..TRANSACTIONS_ON_TABLETS).contains(&(major, minor))
            }
            Self::Scylla(major, _) => major >= 6,
        }
    }
}

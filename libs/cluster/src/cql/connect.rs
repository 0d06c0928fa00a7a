//! From an address to a session.

use std::{collections::BTreeSet, io, path::Path, sync::Arc, time::Duration};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, pem::PemObject},
};
use scylla::{
    client::{
        execution_profile::ExecutionProfile, session::Session, session_builder::SessionBuilder,
    },
    policies::{
        load_balancing::DefaultPolicy, retry::DefaultRetryPolicy,
        speculative_execution::SimpleSpeculativeExecutionPolicy,
    },
    statement::{Consistency, SerialConsistency},
};

use super::{CqlError, CqlSettings};
use crate::service_url::UserInfo;

/// How long a request may take with all its retries.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a node may be silent until a request that may be repeated is also sent to another. Far longer
/// than any answer of a node that works takes, so that a busy cluster is not given more to do.
const SPECULATION_DELAY: Duration = Duration::from_secs(1);
/// How long a connection may be idle until the node is asked for a sign of life: a machine that is gone
/// closes nothing, and every request to it would wait in vain.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// How long the node may take for that sign.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one connection may take to open.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(3);
/// How long it may take until one of the hosts has been found to work.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the nodes may take to agree on a schema.
const SCHEMA_AGREEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// Connects to one of the hosts and, through it, to the other nodes.
pub(super) async fn connect(settings: &CqlSettings) -> Result<Session, CqlError> {
    let mut builder = SessionBuilder::new()
        .known_nodes(&settings.hosts)
        .default_execution_profile_handle(profile(settings).into_handle())
        .connection_timeout(CONNECTION_TIMEOUT)
        .keepalive_interval(KEEPALIVE_INTERVAL)
        .keepalive_timeout(KEEPALIVE_TIMEOUT)
        .schema_agreement_timeout(SCHEMA_AGREEMENT_TIMEOUT)
        .keyspaces_to_fetch([&settings.keyspace])
        .fetch_full_schema_metadata(false);
    if let Some(UserInfo { user, password }) = &settings.user {
        builder = builder.user(user, password.as_deref().unwrap_or_default());
    }
    if settings.tls {
        let tls = tls(settings.authorities.as_deref()).map_err(CqlError::Tls)?;
        builder = builder.tls_context(Some(Arc::new(tls)));
    }
    let hosts = settings.hosts.join(",");
    let session = match tokio::time::timeout(CONNECT_TIMEOUT, builder.build()).await {
        Ok(built) => built.map_err(|error| CqlError::no_session(hosts, error))?,
        Err(late) => return Err(CqlError::Unreachable { hosts, source: late.into() }),
    };
    check_datacenter(&session, settings)?;
    Ok(session)
}

/// `LOCAL_QUORUM` both ways: a read sees every write that succeeded before it.
fn profile(settings: &CqlSettings) -> ExecutionProfile {
    let mut nodes = DefaultPolicy::builder().token_aware(true).permit_dc_failover(false);
    if let Some(datacenter) = &settings.datacenter {
        nodes = nodes.prefer_datacenter(datacenter.clone());
    }
    ExecutionProfile::builder()
        .consistency(Consistency::LocalQuorum)
        .serial_consistency(Some(SerialConsistency::LocalSerial))
        .request_timeout(Some(REQUEST_TIMEOUT))
        .retry_policy(Arc::new(DefaultRetryPolicy::new()))
        .speculative_execution_policy(Some(Arc::new(SimpleSpeculativeExecutionPolicy {
            max_retry_count: 1,
            retry_interval: SPECULATION_DELAY,
        })))
        .load_balancing_policy(nodes.build())
        .build()
}

/// The nodes of a data centre, or of all.
pub(super) fn nodes(session: &Session, datacenter: &str) -> usize {
    let state = session.get_cluster_state();
    let here = |name: &Option<String>| name.as_deref() == Some(datacenter);
    state.get_nodes_info().iter().filter(|node| here(&node.datacenter)).count()
}

/// With a data centre that does not exist, every request would fail for want of a node.
fn check_datacenter(session: &Session, settings: &CqlSettings) -> Result<(), CqlError> {
    let Some(asked) = &settings.datacenter else { return Ok(()) };
    if nodes(session, asked) > 0 {
        return Ok(());
    }
    let state = session.get_cluster_state();
    let known = state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref());
    let known: Vec<_> = known.collect::<BTreeSet<_>>().into_iter().collect();
    Err(CqlError::Datacenter { asked: asked.clone(), known: known.join(", ") })
}

fn tls(
    authorities: Option<&Path>,
) -> Result<ClientConfig, Box<dyn std::error::Error + Send + Sync>> {
    let roots = match authorities {
        Some(file) => from_file(file)?,
        None => from_system()?,
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(versions.with_root_certificates(roots).with_no_client_auth())
}

fn from_file(file: &Path) -> io::Result<RootCertStore> {
    let in_file = |problem: &dyn std::fmt::Display| {
        io::Error::other(format!("authorities in {}: {problem}", file.display()))
    };
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(file).map_err(|error| in_file(&error))?;
    for authority in found {
        roots.add(authority.map_err(|error| in_file(&error))?).map_err(|error| in_file(&error))?;
    }
    if roots.is_empty() {
        return Err(in_file(&"none found"));
    }
    Ok(roots)
}

fn from_system() -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(io::Error::other("the system has no certificate authorities"));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn authorities_that_cannot_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "").expect("an empty file");
        for file in [empty.as_path(), Path::new("/nowhere.pem")] {
            let error = super::tls(Some(file)).expect_err("no authorities");
            let name = file.display().to_string();
            assert!(error.to_string().contains(&name), "{error}");
        }
    }
}

//! Where Redis is: `redis://user:password@host:port,host:port/0?cluster=true&ca=/path`.

#[cfg(test)]
mod tests;

use std::{fs, io, path::PathBuf, time::Duration};

use redis::{
    ConnectionInfo, IntoConnectionInfo as _, TlsCertificates,
    cluster::ClusterClientBuilder,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use url::form_urlencoded;

use super::RedisError;

/// Hosts that an address may name.
const HOSTS: usize = 100;

/// How long a silent connection lives until the other side is asked for a sign of life, and how
/// long between the questions. A subscriber sends nothing and would wait for a dead server for ever.
const SILENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(2));

/// A parsed address.
pub(super) struct Address {
    /// The server, or some of a cluster's; at least one.
    pub(super) nodes: Vec<ConnectionInfo>,
    pub(super) cluster: bool,
    /// The hosts as written, for messages.
    pub(super) hosts: String,
    certificates: Option<TlsCertificates>,
}

/// What stands behind the question mark.
#[derive(Default)]
struct Extras {
    cluster: bool,
    ca: Option<PathBuf>,
}

impl Address {
    /// Parses the address and reads the CA's file.
    pub(super) fn parse(text: &str) -> Result<Self, RedisError> {
        let (scheme, rest) = split_scheme(text)?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
        let extras = Extras::parse(query)?;
        let (login, hosts) = authority.rsplit_once('@').unzip();
        let hosts = hosts.unwrap_or(authority);
        let login = login.map_or_else(String::new, |login| format!("{login}@"));
        let node = |host: &str| node(&format!("{scheme}://{login}{host}{path}"), host);
        let nodes = hosts.split(',').take(HOSTS + 1).map(node).collect::<Result<Vec<_>, _>>()?;
        check(scheme, &nodes, &extras)?;
        let certificates = extras.ca.map(certificates).transpose()?;
        let nodes = match &certificates {
            Some(known) => nodes.into_iter().map(|node| trusting(node, known)).collect(),
            None => Ok(nodes),
        }?;
        Ok(Self { nodes, cluster: extras.cluster, hosts: hosts.to_owned(), certificates })
    }

    /// How to reach the cluster.
    pub(super) fn cluster_builder(&self) -> ClusterClientBuilder {
        let builder = ClusterClientBuilder::new(self.nodes.clone()).tcp_settings(tcp());
        match &self.certificates {
            Some(certificates) => builder.certs(certificates.clone()),
            None => builder,
        }
    }
}

impl Extras {
    fn parse(query: &str) -> Result<Self, RedisError> {
        let mut extras = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("cluster", "true") => extras.cluster = true,
                ("cluster", "false") => extras.cluster = false,
                ("ca", path) if !path.is_empty() => extras.ca = Some(path.into()),
                _ => {
                    return Err(RedisError::Address(
                        "behind the question mark only cluster=true, cluster=false and ca=/path are known",
                    ));
                }
            }
        }
        Ok(extras)
    }
}

fn split_scheme(text: &str) -> Result<(&str, &str), RedisError> {
    match text.split_once("://") {
        Some((scheme @ ("redis" | "rediss"), rest)) => Ok((scheme, rest)),
        _ => Err(RedisError::Address("it starts with neither redis:// nor rediss://")),
    }
}

/// One host's connection. The parser's own errors are not shown: they may quote the password.
fn node(url: &str, host: &str) -> Result<ConnectionInfo, RedisError> {
    const WRONG: RedisError =
        RedisError::Address("a host, port, user, password or database number is malformed");
    if host.is_empty() || host.starts_with(':') {
        return Err(RedisError::Address("a host is missing"));
    }
    let node = url.into_connection_info().map_err(|_| WRONG)?;
    Ok(node.set_tcp_settings(tcp()))
}

fn tcp() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(SILENCE.0).with_interval(SILENCE.1);
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}

/// Refuses what parses alone but not together.
fn check(scheme: &str, nodes: &[ConnectionInfo], extras: &Extras) -> Result<(), RedisError> {
    let wrong = if nodes.len() > HOSTS {
        "it names more than 100 hosts"
    } else if nodes.len() > 1 && !extras.cluster {
        "several hosts need cluster=true"
    } else if extras.cluster && nodes.iter().any(|node| node.redis_settings().db() != 0) {
        "a cluster has only database 0"
    } else if extras.ca.is_some() && scheme == "redis" {
        "ca needs rediss://"
    } else {
        return Ok(());
    };
    Err(RedisError::Address(wrong))
}

fn certificates(path: PathBuf) -> Result<TlsCertificates, RedisError> {
    let read = fs::read(&path).and_then(|pem| {
        let certificate = CertificateDer::from_pem_slice(&pem);
        certificate.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(TlsCertificates { client_tls: None, root_cert: Some(pem) })
    });
    read.map_err(|source| RedisError::Ca { path, source })
}

/// The connection, trusting only the given CA.
fn trusting(
    node: ConnectionInfo,
    certificates: &TlsCertificates,
) -> Result<ConnectionInfo, RedisError> {
    let client = redis::Client::build_with_tls(node, certificates.clone());
    Ok(client.map_err(|error| RedisError::Tls(error.into()))?.get_connection_info().clone())
}

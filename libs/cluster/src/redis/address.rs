//! Where Redis is: `redis://user:password@host:port,host:port/0?cluster=true&ca=/path`.

#[cfg(test)]
mod tests;

use std::{fs, io, path::PathBuf, time::Duration};

use redis::{
    ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisConnectionInfo, TlsCertificates,
    cluster::ClusterClientBuilder,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};

use super::RedisError;
use crate::service_url::{Host, PathForm, Scheme, ServiceUrl, UrlError, UserForm, UserInfo};

/// What the URLs of Redis look like.
const SCHEME: Scheme = Scheme {
    name: "redis",
    tls: Some("rediss"),
    is_optional: false,
    default_port: Some(6379),
    user: UserForm::Either,
    path: PathForm::Database,
    parameters: &["cluster", "ca"],
};

/// How long a connection may be silent until the server is asked for a sign of life: a subscriber sends
/// nothing, and would wait for a dead server for ever.
const KEEPALIVE_TIME: Duration = Duration::from_secs(5);
/// The time between two such questions.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);

/// A parsed address.
pub(super) struct RedisAddress {
    /// The server, or some of a cluster's; at least one.
    pub(super) nodes: Vec<ConnectionInfo>,
    pub(super) cluster: bool,
    /// Hosts and ports, for messages.
    pub(super) hosts: String,
    certificates: Option<TlsCertificates>,
}

/// What the URL says.
pub(super) struct RedisSettings {
    nodes: Vec<ConnectionInfo>,
    cluster: bool,
    hosts: String,
    ca: Option<PathBuf>,
}

impl RedisAddress {
    /// Parses the URL and reads the CA's file.
    pub(super) fn parse(text: &str) -> Result<Self, RedisError> {
        let settings = RedisSettings::parse(text)?;
        let certificates = settings.ca.map(certificates).transpose()?;
        let nodes = settings.nodes.into_iter().map(|node| match &certificates {
            Some(known) => trusting(node, known),
            None => Ok(node),
        });
        let nodes = nodes.collect::<Result<_, _>>()?;
        Ok(Self { nodes, cluster: settings.cluster, hosts: settings.hosts, certificates })
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

impl RedisSettings {
    /// Reads the URL; asks no server and reads no file.
    pub(super) fn parse(text: &str) -> Result<Self, UrlError> {
        let url = ServiceUrl::parse(text, &SCHEME)?;
        let (cluster, ca) = (url.flag("cluster")?.unwrap_or(false), url.file("ca")?);
        if url.hosts.len() > 1 && !cluster {
            return Err(UrlError::Together("several hosts need cluster=true"));
        }
        if cluster && url.database()? != 0 {
            return Err(UrlError::Together("a cluster has only database 0"));
        }
        if ca.is_some() && !url.tls {
            return Err(UrlError::Together("ca needs rediss://"));
        }
        let redis = redis_settings(&url)?;
        let nodes = url.hosts.iter().zip(1..).map(|host| node(host, url.tls, &redis));
        Ok(Self { nodes: nodes.collect::<Result<_, _>>()?, cluster, hosts: url.hosts(), ca })
    }
}

fn redis_settings(url: &ServiceUrl) -> Result<RedisConnectionInfo, UrlError> {
    let mut settings = RedisConnectionInfo::default().set_db(url.database()?.into());
    if let Some(UserInfo { user, password }) = &url.user {
        if !user.is_empty() {
            settings = settings.set_username(user);
        }
        if let Some(password) = password {
            settings = settings.set_password(password);
        }
    }
    Ok(settings)
}

fn node(
    (host, number): (&Host, usize),
    tls: bool,
    settings: &RedisConnectionInfo,
) -> Result<ConnectionInfo, UrlError> {
    let (host, port) = (host.name.clone(), host.port);
    let address = if tls {
        ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
    } else {
        ConnectionAddr::Tcp(host, port)
    };
    let node = address.into_connection_info().map_err(|_| UrlError::Host(number))?;
    Ok(node.set_redis_settings(settings.clone()).set_tcp_settings(tcp()))
}

fn tcp() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_TIME).with_interval(KEEPALIVE_INTERVAL);
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
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

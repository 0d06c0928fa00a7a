//! Where the servers are, and how to talk to them.

use std::{fmt, path::PathBuf};

use trapline_store::Clock;

use super::CqlError;
use crate::{
    is_namespace,
    service_url::{Host, PathForm, Scheme, ServiceUrl, UrlError, UserForm, UserInfo},
};

/// More copies of a row than any cluster needs.
const MOST_COPIES: u8 = 15;

/// How to reach the store.
#[derive(Clone)]
pub struct CqlOptions {
    /// `cql://user:password@host:9042,host:9042?tls=true&ca=/path.pem&dc=name&replication=3`, or
    /// only `host:9042,host:9042`.
    ///
    /// Up to 100 hosts, of which one must answer; the port is 9042 where none is given. User name
    /// and password are percent-encoded (RFC 3986, section 3.2.1). With `tls=true` the server's
    /// certificate must be for the nodes' IP addresses, and `ca` is a PEM file of the authorities
    /// to trust instead of the system's. `dc` is the data centre to talk to; a cluster of several
    /// needs it. `replication` is for a keyspace that is yet to be created: the copies of each row
    /// (1 to 15), by default 3 or as many as there are nodes.
    pub url: String,
    /// A word of `[a-z][a-z0-9_]*`, up to 32 long.
    pub keyspace: String,
    /// The time by which rows end.
    pub clock: Clock,
    /// Whether preparing tables creates the missing ones. Otherwise that fails, because programs
    /// that start at once must not all change the schema.
    pub create: bool,
}

/// The address has a password in it.
impl fmt::Debug for CqlOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keyspace, create, .. } = self;
        let mut shown = f.debug_struct("CqlOptions");
        shown.field("keyspace", keyspace).field("create", create).finish_non_exhaustive()
    }
}

/// What CQL's URLs look like.
const SCHEME: Scheme = Scheme {
    name: "cql",
    tls: None,
    is_optional: true,
    default_port: Some(9042),
    user: UserForm::Both,
    path: PathForm::Empty,
    parameters: &["tls", "ca", "dc", "replication"],
};

/// The options, checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CqlSettings {
    pub(super) keyspace: String,
    /// Each with its port.
    pub(super) hosts: Vec<String>,
    pub(super) user: Option<UserInfo>,
    pub(super) tls: bool,
    pub(super) authorities: Option<PathBuf>,
    pub(super) datacenter: Option<String>,
    pub(super) replication: Option<u8>,
}

impl CqlSettings {
    pub(super) fn of(options: &CqlOptions) -> Result<Self, CqlError> {
        if !is_namespace(&options.keyspace) {
            return Err(CqlError::KeyspaceName(options.keyspace.clone()));
        }
        Ok(Self::parse(&options.url, &options.keyspace)?)
    }

    /// Reads the URL; asks no server.
    pub(super) fn parse(url: &str, keyspace: &str) -> Result<Self, UrlError> {
        let url = ServiceUrl::parse(url, &SCHEME)?;
        let settings = Self {
            keyspace: keyspace.to_owned(),
            hosts: url.hosts.iter().map(Host::to_string).collect(),
            tls: url.flag("tls")?.unwrap_or(false),
            authorities: url.file("ca")?,
            datacenter: url.name("dc")?,
            replication: url.number("replication", 1..=MOST_COPIES)?,
            user: url.user,
        };
        if settings.authorities.is_some() && !settings.tls {
            return Err(UrlError::Together("ca is of no use without tls=true"));
        }
        Ok(settings)
    }
}

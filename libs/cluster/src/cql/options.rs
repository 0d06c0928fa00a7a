//! Where the servers are, and how to talk to them.

use std::{fmt, net::Ipv6Addr, path::PathBuf};

use percent_encoding::percent_decode_str;
use trapline_store::Clock;
use url::form_urlencoded;

use super::CqlError;
use crate::is_namespace;

/// The port of CQL's native protocol.
const PORT: u16 = 9042;
/// More first addresses than any cluster needs: the driver finds the other nodes by itself.
const MOST_HOSTS: usize = 64;
/// More copies of a row than any cluster needs.
const MOST_COPIES: u8 = 15;

/// How to reach the store.
#[derive(Clone)]
pub struct CqlOptions {
    /// `cql://user:password@host:9042,host:9042?tls=true&ca=/path.pem&dc=name&replication=3`, or
    /// only `host:9042,host:9042`.
    ///
    /// Up to 64 hosts, of which one must answer; the port is 9042 where none is given. User name
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

/// What is wrong with an address. No text repeats a part that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Another scheme than `cql`.
    #[error("it must begin with cql://")]
    Scheme,
    /// Not one host, or more than 64.
    #[error("it must name 1 to 64 hosts")]
    Hosts,
    /// A host that is no name or address with an optional port; the first is number 1.
    #[error("host {0} is not a name or address with an optional port")]
    Host(usize),
    /// A user name without a password, or one that is not percent-encoded UTF-8.
    #[error("before the @ must come a user name, a colon and a password, percent-encoded")]
    Login,
    /// A parameter that is not known.
    #[error("it has an unknown parameter {0:?}")]
    Parameter(String),
    /// A parameter with a value that it cannot have.
    #[error("{0}")]
    Value(&'static str),
}

/// An address, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) keyspace: String,
    /// Each with its port.
    pub(super) hosts: Vec<String>,
    pub(super) login: Option<Login>,
    pub(super) tls: bool,
    pub(super) authorities: Option<PathBuf>,
    pub(super) datacenter: Option<String>,
    pub(super) replication: Option<u8>,
}

/// Who we are.
#[derive(PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Settings {
    pub(super) fn of(options: &CqlOptions) -> Result<Self, CqlError> {
        if !is_namespace(&options.keyspace) {
            return Err(CqlError::KeyspaceName(options.keyspace.clone()));
        }
        Ok(Self::parse(&options.url, &options.keyspace)?)
    }

    fn parse(url: &str, keyspace: &str) -> Result<Self, AddressError> {
        let rest = match url.split_once("://") {
            Some(("cql", rest)) => rest,
            Some(_) => return Err(AddressError::Scheme),
            None => url,
        };
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(Login::parse(login)?), hosts),
            None => (None, authority),
        };
        let mut settings = Self {
            keyspace: keyspace.to_owned(),
            hosts: parse_hosts(hosts)?,
            login,
            tls: false,
            authorities: None,
            datacenter: None,
            replication: None,
        };
        form_urlencoded::parse(query.as_bytes())
            .try_for_each(|(name, value)| settings.set(&name, &value))?;
        if settings.authorities.is_some() && !settings.tls {
            return Err(AddressError::Value("ca is of no use without tls=true"));
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), AddressError> {
        match name {
            "tls" => {
                let wrong = AddressError::Value("tls must be true or false");
                self.tls = value.parse().map_err(|_| wrong)?;
            }
            "ca" if value.is_empty() => return Err(AddressError::Value("ca must be a path")),
            "ca" => self.authorities = Some(PathBuf::from(value)),
            "dc" if value.is_empty() => return Err(AddressError::Value("dc must be a name")),
            "dc" => self.datacenter = Some(value.to_owned()),
            "replication" => {
                let copies = value.parse().ok().filter(|copies| (1..=MOST_COPIES).contains(copies));
                let wrong = AddressError::Value("replication must be a number from 1 to 15");
                self.replication = Some(copies.ok_or(wrong)?);
            }
            _ => return Err(AddressError::Parameter(name.to_owned())),
        }
        Ok(())
    }
}

impl Login {
    fn parse(text: &str) -> Result<Self, AddressError> {
        let decode = |part| percent_decode_str(part).decode_utf8().map(Into::into);
        let (user, password) = text.split_once(':').ok_or(AddressError::Login)?;
        let user: String = decode(user).map_err(|_| AddressError::Login)?;
        let password = decode(password).map_err(|_| AddressError::Login)?;
        (!user.is_empty()).then_some(Self { user, password }).ok_or(AddressError::Login)
    }
}

fn parse_hosts(list: &str) -> Result<Vec<String>, AddressError> {
    if list.is_empty() || list.split(',').count() > MOST_HOSTS {
        return Err(AddressError::Hosts);
    }
    let numbered = (1..).zip(list.split(','));
    numbered.map(|(number, host)| with_port(host).ok_or(AddressError::Host(number))).collect()
}

/// `name`, `name:port`, `[address]` or `[address]:port`, with the port filled in.
fn with_port(text: &str) -> Option<String> {
    // A port begins behind the last colon that is not part of an IPv6 address.
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (text, PORT),
    };
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let fits = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_in_names),
    };
    (fits && port > 0).then(|| format!("{host}:{port}"))
}

fn is_in_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

//! Which addresses this service connects to on a user's word.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use http::Uri;
use tokio::time::timeout;
use url::{Host, Url};

use super::{Cidr, Dns, OutboundFailure, Refusal, Resolver, address::AddressClass, blocklist};

const MAX_URL_BYTES: usize = 2048;
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
/// More addresses than this are checked, but not tried.
const MAX_TRIED: usize = 8;
/// Where this service's own receivers are, whose requests cause no further ones.
const SINK_PATH: &str = "/mock/";

/// Which addresses are allowed beside the public ones.
#[derive(Debug, Clone, Default)]
pub struct GuardOptions {
    /// Allows this machine and private networks, by their names too; never link-local addresses or
    /// metadata servers.
    pub allow_private: bool,
    /// Allows these ranges whatever they are. Link-local addresses and metadata servers must be named
    /// each by itself (a range of one address).
    pub allow: Vec<Cidr>,
    /// Where this service itself is reached: scheme, host and port of each. They are refused, but for
    /// its own sinks under `/mock/`.
    pub own_hosts: Vec<Url>,
    /// The addresses that this process listens on, refused likewise under whatever name they are
    /// given; the unspecified address stands for every address of this machine.
    pub own_listeners: Vec<SocketAddr>,
    /// Whether names are completed by the system's search domains, as a program beside this one would
    /// have it (resolv.conf(5)). Otherwise each is looked up as it is written, so that
    /// `intranet.example` does not become `intranet.example.corp`.
    pub search_domains: bool,
}

/// Decides which addresses this service connects to on a user's word.
#[derive(Clone)]
pub struct Guard {
    options: Arc<GuardOptions>,
    resolver: Arc<dyn Resolver>,
}

impl Guard {
    /// A guard that asks the system's name servers.
    #[must_use]
    pub fn new(options: GuardOptions) -> Self {
        Self::with_resolver(options, Arc::new(Dns::system()))
    }

    /// A guard that asks `resolver`.
    #[must_use]
    pub fn with_resolver(options: GuardOptions, resolver: Arc<dyn Resolver>) -> Self {
        Self { options: Arc::new(options), resolver }
    }

    /// Checks what can be told without resolving. What passes here may still be refused once its
    /// name is resolved.
    pub fn check(&self, url: &Url) -> Result<(), Refusal> {
        check_form(url)?;
        match url.host().ok_or(Refusal::Malformed)? {
            Host::Domain(name) => self.check_name(without_dot(name))?,
            Host::Ipv4(ip) => self.check_literal(ip.into())?,
            Host::Ipv6(ip) => self.check_literal(ip.into())?,
        }
        if self.options.own_hosts.iter().any(|own| is_same(own, url)) && !is_sink(url) {
            return Err(Refusal::OwnHost);
        }
        Ok(())
    }

    /// The addresses to connect to, at most eight: one look-up, cut off after 3 s, of whose answers
    /// every single one must be allowed.
    pub async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, OutboundFailure> {
        self.check(url)?;
        let port = url.port_or_known_default().ok_or(OutboundFailure::AddressNotAllowed)?;
        let ips = match url.host().ok_or(OutboundFailure::AddressNotAllowed)? {
            Host::Domain(name) => self.look_up(name).await?,
            Host::Ipv4(ip) => vec![ip.into()],
            Host::Ipv6(ip) => vec![ip.into()],
        };
        let refused = |ip: &IpAddr| {
            !self.allows(*ip) || (self.is_own(SocketAddr::new(*ip, port)) && !is_sink(url))
        };
        if ips.iter().any(refused) {
            return Err(OutboundFailure::AddressNotAllowed);
        }
        Ok(ips.into_iter().take(MAX_TRIED).map(|ip| SocketAddr::new(ip, port)).collect())
    }

    /// Whether this process itself would answer there.
    fn is_own(&self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        self.options.own_listeners.iter().any(|own| {
            let listens = own.ip().to_canonical();
            own.port() == address.port()
                && (listens == ip || (listens.is_unspecified() && is_this_machine(ip)))
        })
    }

    /// Whether a URL says by itself that it leads to this machine or a private network.
    #[must_use]
    pub fn is_near(url: &Url) -> bool {
        match url.host() {
            Some(Host::Domain(name)) => blocklist::is_local(without_dot(name)),
            Some(Host::Ipv4(ip)) => AddressClass::of(ip.into()) == AddressClass::Private,
            Some(Host::Ipv6(ip)) => AddressClass::of(ip.into()) == AddressClass::Private,
            None => false,
        }
    }

    /// Whether connections to this address are allowed.
    #[must_use]
    pub fn allows(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        let mut named = self.options.allow.iter().filter(|net| net.contains(&ip));
        match AddressClass::of(ip) {
            AddressClass::Public => true,
            AddressClass::Private => self.options.allow_private || named.next().is_some(),
            AddressClass::Metadata => named.any(|net| net.prefix_len() == net.max_prefix_len()),
            AddressClass::Special => named.next().is_some(),
        }
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, OutboundFailure> {
        // A final dot keeps search domains out.
        let asked = if self.options.search_domains {
            name.to_owned()
        } else {
            format!("{}.", without_dot(name))
        };
        let answered = timeout(RESOLVE_TIMEOUT, self.resolver.addresses(&asked)).await;
        match answered.map_err(|_| OutboundFailure::DnsError)? {
            Ok(ips) if !ips.is_empty() => Ok(ips),
            Ok(_) => Err(OutboundFailure::DnsError),
            Err(error) => {
                tracing::debug!(%error, "a name was not resolved");
                Err(OutboundFailure::DnsError)
            }
        }
    }

    fn check_name(&self, name: &str) -> Result<(), Refusal> {
        if !blocklist::is_well_formed(name) {
            return Err(Refusal::Malformed);
        }
        let local = !self.options.allow_private && blocklist::is_local(name);
        if local || blocklist::is_metadata(name) { Err(Refusal::Name) } else { Ok(()) }
    }

    fn check_literal(&self, ip: IpAddr) -> Result<(), Refusal> {
        self.allows(ip).then_some(()).ok_or(Refusal::Address)
    }
}

/// Checks all but where the URL leads to.
fn check_form(url: &Url) -> Result<(), Refusal> {
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(Refusal::TooLong);
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Credentials);
    }
    if url.fragment().is_some() {
        return Err(Refusal::Fragment);
    }
    if url.port().is_some_and(blocklist::is_bad_port) {
        return Err(Refusal::Port);
    }
    Uri::try_from(url.as_str()).map(drop).map_err(|_| Refusal::Malformed)
}

fn is_same(own: &Url, url: &Url) -> bool {
    let place = |url: &Url| {
        let host = url.host_str().map(|host| without_dot(host).to_owned());
        (host, url.port_or_known_default())
    };
    place(own) == place(url)
}

/// Whether a URL leads to a receiver of this service's own, whose requests cause no further ones.
fn is_sink(url: &Url) -> bool {
    url.path().starts_with(SINK_PATH)
}

/// Whether the address is one of this machine: only those can be bound.
fn is_this_machine(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
}

fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

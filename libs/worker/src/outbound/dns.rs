//! Resolves host names.

use std::{io, net::IpAddr, time::Duration};

use async_trait::async_trait;
use hickory_resolver::{
    TokioResolver,
    config::{LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts},
    net::{NetError, runtime::TokioRuntimeProvider},
    proto::rr::Name,
};

/// How long an answer is used: long enough for a burst to one name, short enough that a name moves within
/// the time of a pooled connection.
const CACHE_TTL: Duration = Duration::from_secs(30);
const FAILURE_TTL: Duration = Duration::from_secs(5);
const QUERY_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_QUERIES: usize = 3;

/// Resolves host names to addresses.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Every IPv4 and IPv6 address of a name in ASCII. One with a final dot is absolute; the system's
    /// search domains may complete another.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The name servers of the system. They are asked without the C library, whose calls cannot be
/// broken off and would each hold a thread for as long as somebody's name server is slow.
pub struct Dns(Option<TokioResolver>);

impl Dns {
    /// As `/etc/resolv.conf` says; without one, the name server on this machine (resolv.conf(5)).
    #[must_use]
    pub fn system() -> Self {
        let (config, options) =
            hickory_resolver::system_conf::read_system_conf().unwrap_or_else(|error| {
                tracing::warn!(%error, "the system names no name servers: this machine is asked");
                (this_machine(), ResolverOpts::default())
            });
        Self::with_config(config, options).unwrap_or_else(|error| {
            tracing::error!(%error, "no name can be resolved");
            Self(None)
        })
    }

    /// What asks them for other records than addresses; none where no name can be resolved.
    pub(crate) fn resolver(&self) -> Option<TokioResolver> {
        self.0.clone()
    }

    /// The name servers of `config`.
    pub(super) fn with_config(
        config: ResolverConfig,
        options: ResolverOpts,
    ) -> Result<Self, NetError> {
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        *builder.options_mut() = options;
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.timeout = QUERY_TIMEOUT;
        options.attempts = MAX_QUERIES;
        options.positive_max_ttl = Some(CACHE_TTL);
        options.negative_max_ttl = Some(FAILURE_TTL);
        builder.build().map(|resolver| Self(Some(resolver)))
    }
}

fn this_machine() -> ResolverConfig {
    let server = NameServerConfig::udp_and_tcp([127, 0, 0, 1].into());
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

#[async_trait]
impl Resolver for Dns {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let resolver = self.0.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        // Not by IDNA's rules, which refuse the underscores that container names have.
        let name = Name::from_ascii(name).map_err(io::Error::other)?;
        let found = resolver.lookup_ip(name).await.map_err(io::Error::other)?;
        Ok(found.iter().collect())
    }
}

#[cfg(test)]
mod tests;

//! The services behind the cluster: what leads to them, and where a network cut finds them.

use std::net::Ipv4Addr;

use trapline_tests::{Backing, Services};

/// Three CQL nodes and three NATS servers, and one each of Redis and S3.
pub(crate) const OPTIONS: &[&str] = &["--cassandra", "3", "--nats", "3"];

/// One of the services, as a network cut sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    Cql,
    Nats,
    Redis,
    S3,
}

impl Service {
    pub(crate) const ALL: [Self; 4] = [Self::Cql, Self::Nats, Self::Redis, Self::S3];

    fn setting(self) -> &'static str {
        match self {
            Self::Cql => "TRAPLINE_CQL",
            Self::Nats => "TRAPLINE_NATS",
            Self::Redis => "TRAPLINE_REDIS",
            Self::S3 => "TRAPLINE_BLOBS",
        }
    }
}

/// Their URLs, with three copies of everything that can have them.
pub(crate) fn urls(backing: &Backing) -> Services {
    let setting = |service: Service| backing.setting(service.setting()).to_owned();
    Services {
        cql: format!("cql://{}?replication=3", setting(Service::Cql)),
        nats: format!("{}?replicas=3", setting(Service::Nats)),
        redis: setting(Service::Redis),
        blobs: setting(Service::S3),
    }
}

/// The addresses of a service's servers.
pub(crate) fn addresses(backing: &Backing, service: Service) -> Vec<Ipv4Addr> {
    let setting = backing.setting(service.setting());
    let words = setting.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.filter_map(|word| word.parse().ok()).collect()
}

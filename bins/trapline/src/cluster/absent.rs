//! Stands where the adapters of a cluster would be in a build without the feature `cluster`.

#![expect(clippy::unused_async, reason = "the same functions as where there is a cluster")]

use std::ops::Range;

use anyhow::{Result, bail};
use bytes::Bytes;
use trapline_store::{Clock, PortError, Ports, Table};

/// Where the services would be.
#[expect(dead_code, reason = "the settings are read in every build")]
pub(crate) struct Options {
    pub cql: String,
    pub blobs: String,
    pub nats: String,
    pub redis: String,
    pub namespace: String,
    pub clock: Clock,
}

/// A service that a role needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Cql,
    Blobs,
    Nats,
    Redis,
}

/// A connected cluster, of which this build can have none.
pub(crate) enum Cluster {}

const ABSENT: &str = "this executable was built without the drivers of a cluster; \
    `cargo build --release -p trapline` builds one that has them";

impl Service {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cql => "cql",
            Self::Blobs => "blobs",
            Self::Nats => "nats",
            Self::Redis => "redis",
        }
    }
}

impl Cluster {
    pub(crate) async fn migrate(_: &Options, _: &[&'static Table]) -> Result<()> {
        bail!(ABSENT)
    }

    pub(crate) async fn connect(_: &Options) -> Result<Self> {
        bail!(ABSENT)
    }

    pub(crate) fn ports(&self) -> Ports {
        match *self {}
    }

    pub(crate) async fn ended(&self) {
        match *self {}
    }

    pub(crate) async fn ping(&self) -> [(Service, std::result::Result<(), PortError>); 0] {
        match *self {}
    }
}

/// A client of a bucket, of which this build can have none.
pub(crate) enum NoObjects {}

impl NoObjects {
    pub(crate) fn open(_: &str) -> Result<Self> {
        bail!(ABSENT)
    }

    pub(crate) async fn names(&self) -> std::io::Result<Vec<String>> {
        match *self {}
    }

    pub(crate) async fn size(&self, _: &str) -> std::io::Result<Option<u64>> {
        match *self {}
    }

    pub(crate) async fn read(&self, _: &str, _: Range<u64>) -> std::io::Result<Bytes> {
        match *self {}
    }

    pub(crate) async fn remove(&self, _: &str) -> std::io::Result<()> {
        match *self {}
    }

    pub(crate) async fn upload(&self, _: &str) -> std::io::Result<NoUpload> {
        match *self {}
    }
}

/// An object that is being written, of which this build can have none.
pub(crate) enum NoUpload {}

impl NoUpload {
    pub(crate) async fn write(&mut self, _: Bytes) -> std::io::Result<()> {
        match *self {}
    }

    pub(crate) async fn finish(self) -> std::io::Result<()> {
        match self {}
    }
}

/// Whether a URL is one of the service's, for all that this build knows.
#[expect(clippy::unnecessary_wraps, reason = "the same function as where there is a cluster")]
pub(crate) fn check_url(_: Service, _: &str) -> std::result::Result<(), PortError> {
    Ok(())
}

/// Whether the word is a name that every service of a cluster takes; never asked in this build, whose
/// commands refuse a cluster first.
pub(crate) fn is_namespace(_: &str) -> bool {
    true
}

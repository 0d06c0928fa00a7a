//! All of the services, as one backend.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::join;
use trapline_store::{Clock, JobDelivery, Op, Ports, Processes, Result, Store, Table};

use crate::{
    cql::{self, CqlError, CqlOptions, CqlStore},
    jetstream::{self, JetStreamError, JetStreamOptions, JetStreamQueue},
    redis::{self, Redis, RedisError, RedisOptions},
    s3::{self, ClusterIntake, RowWriter, SegmentError, SegmentOptions, Segments},
    service_url::UrlError,
};

/// Where the services are.
pub struct Options {
    /// `cql://…`
    pub cql: String,
    /// `s3://…`
    pub blobs: String,
    /// `nats://…`
    pub nats: String,
    /// `redis://…`
    pub redis: String,
    /// The keyspace, and the first part of every name in the other services.
    pub namespace: String,
    /// The time.
    pub clock: Clock,
}

/// One of the services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Rows.
    Cql,
    /// Message bytes.
    Blobs,
    /// Jobs.
    Nats,
    /// Live events, limits, short-lived values.
    Redis,
}

impl Service {
    /// A word for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cql => "cql",
            Self::Blobs => "blobs",
            Self::Nats => "nats",
            Self::Redis => "redis",
        }
    }
}

/// Whether a URL is one of the service's. Asks no server and reads no file.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_url(service: Service, url: &str) -> std::result::Result<(), UrlError> {
    match service {
        Service::Cql => cql::check_url(url),
        Service::Blobs => s3::check_url(url),
        Service::Nats => jetstream::check_url(url),
        Service::Redis => redis::check_url(url),
    }
}

/// Why a service cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The metadata store.
    #[error(transparent)]
    Cql(#[from] CqlError),
    /// The object store.
    #[error(transparent)]
    Blobs(#[from] SegmentError),
    /// The job queue.
    #[error(transparent)]
    Nats(#[from] JetStreamError),
    /// Redis.
    #[error(transparent)]
    Redis(#[from] RedisError),
}

/// Open connections to every service.
pub struct Cluster {
    store: Arc<CqlStore>,
    segments: Arc<Segments>,
    queue: Arc<JetStreamQueue>,
    redis: Redis,
    ports: Ports,
}

#[async_trait]
impl RowWriter for CqlStore {
    async fn write_unordered(&self, ops: Vec<Op>) -> Result<()> {
        Self::write_unordered(self, ops).await
    }
}

impl Cluster {
    /// Makes or updates keyspace, tables, stream and consumers. Safe to repeat, and from several
    /// processes at once.
    ///
    /// # Errors
    ///
    /// [`ClusterError`] names the service and says why.
    pub async fn migrate(options: &Options, tables: &[&'static Table]) -> Result<(), ClusterError> {
        CqlStore::migrate(&options.cql(), tables).await?;
        JetStreamQueue::migrate(&options.jetstream()).await?;
        Ok(())
    }

    /// Connects to every service; all of them must have been migrated.
    ///
    /// # Errors
    ///
    /// [`ClusterError`] names the service and says why.
    pub async fn connect(options: &Options) -> Result<Self, ClusterError> {
        let segments = Arc::new(Segments::open(&SegmentOptions { url: options.blobs.clone() })?);
        let store = Arc::new(CqlStore::connect(&options.cql()).await?);
        let queue = Arc::new(JetStreamQueue::connect(&options.jetstream()).await?);
        let redis = Redis::connect(&options.redis()).await?;
        let intake = ClusterIntake::new(segments.clone(), store.clone(), queue.clone());
        let ports = Ports {
            store: store.clone(),
            queue: queue.clone(),
            bus: redis.bus(),
            limiter: redis.limiter(),
            cache: redis.cache(),
            intake: Arc::new(intake),
            blobs: segments.clone(),
            // A server of JetStream acknowledges before it syncs its disk.
            job_delivery: JobDelivery::ThroughOutbox,
            processes: Processes::Many,
        };
        Ok(Self { store, segments, queue, redis, ports })
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> Ports {
        self.ports.clone()
    }

    /// Returns when a task that must live as long as the process has ended.
    pub async fn ended(&self) {
        self.redis.ended().await;
    }

    /// Asks every service whether it answers, all at once.
    pub async fn ping(&self) -> [(Service, Result<()>); 4] {
        let (cql, blobs, nats, redis) =
            join!(self.store.ping(), self.segments.ping(), self.queue.ping(), self.redis.ping());
        [
            (Service::Cql, cql),
            (Service::Blobs, blobs),
            (Service::Nats, nats),
            (Service::Redis, redis),
        ]
    }
}

impl Options {
    fn cql(&self) -> CqlOptions {
        CqlOptions {
            url: self.cql.clone(),
            keyspace: self.namespace.clone(),
            clock: self.clock.clone(),
            create: false,
        }
    }

    fn jetstream(&self) -> JetStreamOptions {
        JetStreamOptions {
            url: self.nats.clone(),
            namespace: self.namespace.clone(),
            clock: self.clock.clone(),
        }
    }

    fn redis(&self) -> RedisOptions {
        RedisOptions {
            url: self.redis.clone(),
            namespace: self.namespace.clone(),
            clock: self.clock.clone(),
        }
    }
}

//! Connections for commands, of which a bounded number is open.

use std::time::Duration;

use deadpool::{
    Runtime,
    managed::{self, Metrics, RecycleResult, Timeouts},
};
use deadpool_redis::PoolConfig;
use redis::{
    AsyncConnectionConfig, Cmd, RedisResult, Value, aio::MultiplexedConnection,
    cluster::ClusterClient, cluster_async::ClusterConnection,
};

use super::address::RedisAddress;

/// Connections of a process. Each carries many commands at once.
const POOL_SIZE: usize = 8;

/// How long to wait for a connection from the pool, for a server to let one in, and for an answer.
pub(super) const CONNECTION_WAIT: Duration = Duration::from_secs(1);

/// How long until there is a new connection to all of a cluster's servers, of which some may not
/// answer: first those of the address are asked, then those that they name.
const CREATE_TIMEOUT: Duration = Duration::from_millis(1800);
const NODE_TIMEOUT: Duration = Duration::from_millis(500);

/// Further attempts at a command whose part of the cluster has just moved to another server.
const MAX_RETRIES: u32 = 3;
/// The least and the longest time between them, in milliseconds.
const RETRY_DELAYS_MS: (u64, u64) = (20, 200);

/// Where commands get their connections.
pub(super) enum Pool {
    Server(deadpool_redis::Pool),
    Cluster(managed::Pool<ClusterManager>),
}

/// A connection out of the pool, which gets it back at the end.
pub(super) enum PooledConnection {
    Server(deadpool_redis::Connection),
    Cluster(managed::Object<ClusterManager>),
}

/// Why the pool gives no connection.
pub(super) type PoolError = managed::PoolError<redis::RedisError>;

/// Makes cluster connections. The manager of deadpool-redis takes neither deadlines nor a CA.
pub(super) struct ClusterManager(ClusterClient);

impl Pool {
    pub(super) fn new(
        address: &RedisAddress,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let mut config = PoolConfig::new(POOL_SIZE);
        config.timeouts = Timeouts {
            wait: Some(CONNECTION_WAIT),
            create: Some(CREATE_TIMEOUT),
            recycle: Some(CONNECTION_WAIT),
        };
        if address.cluster {
            let manager = ClusterManager(cluster_client(address)?);
            let pool = managed::Pool::builder(manager).config(config).runtime(Runtime::Tokio1);
            return Ok(Self::Cluster(pool.build()?));
        }
        let waits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECTION_WAIT))
            .set_response_timeout(Some(CONNECTION_WAIT));
        let manager = deadpool_redis::Manager::new_with_config(address.nodes[0].clone(), waits)?;
        let pool = deadpool_redis::Pool::builder(manager).config(config).runtime(Runtime::Tokio1);
        Ok(Self::Server(pool.build()?))
    }

    /// Takes a connection that has just answered.
    pub(super) async fn get(&self) -> Result<PooledConnection, PoolError> {
        match self {
            Self::Server(pool) => pool.get().await.map(PooledConnection::Server),
            Self::Cluster(pool) => pool.get().await.map(PooledConnection::Cluster),
        }
    }

    pub(super) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }
}

impl PooledConnection {
    /// Sends a command; many may be under way at once.
    pub(super) async fn query(&self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Server(connection) => {
                let mut connection: MultiplexedConnection = (**connection).clone();
                command.query_async(&mut connection).await
            }
            Self::Cluster(connection) => {
                let mut connection: ClusterConnection = (**connection).clone();
                command.query_async(&mut connection).await
            }
        }
    }
}

fn cluster_client(address: &RedisAddress) -> RedisResult<ClusterClient> {
    let (least, most) = RETRY_DELAYS_MS;
    address
        .cluster_builder()
        .connection_timeout(NODE_TIMEOUT)
        .response_timeout(CONNECTION_WAIT)
        .retries(MAX_RETRIES)
        .min_retry_wait(least)
        .max_retry_wait(most)
        .build()
}

impl managed::Manager for ClusterManager {
    type Type = ClusterConnection;
    type Error = redis::RedisError;

    async fn create(&self) -> RedisResult<ClusterConnection> {
        self.0.get_async_connection().await
    }

    /// A cluster connection renews its parts by itself; asking all servers would make one that is
    /// away fail the others.
    async fn recycle(
        &self,
        _: &mut ClusterConnection,
        _: &Metrics,
    ) -> RecycleResult<redis::RedisError> {
        Ok(())
    }
}

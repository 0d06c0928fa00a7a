//! Live events, rate limits and short-lived values on Redis, alone or as a Redis Cluster.
//!
//! | port | here |
//! |---|---|
//! | bus | a channel for each inbox: `<namespace>:inbox:<id>`; sharded channels in a cluster |
//! | limiter | one script and one key for each allowance: `<namespace>:limit:<key>` |
//! | cache | `<namespace>:cache:<key>`; version marks: `<namespace>:mark:<key>` |
//!
//! Nothing here is the only copy of anything, and every key expires: Redis may lose all of it, and
//! `maxmemory-policy volatile-lru` is safe. Every call ends within two seconds.

mod address;
mod bus;
mod cache;
mod client;
mod limiter;
mod meters;
mod pool;
mod subscriber;

#[cfg(test)]
mod tests;

use std::{error::Error, fmt, io, path::PathBuf, sync::Arc};

use trapline_store::{Bus, Cache, Clock, Limiter, Result};

use crate::UrlError;

use self::{
    address::{RedisAddress, RedisSettings},
    bus::RedisBus,
    cache::RedisCache,
    client::Client,
};

/// Whether a URL is one of Redis's; asks no server and reads no file.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    RedisSettings::parse(url).map(drop)
}

/// Where Redis is, and what in it is ours.
#[derive(Clone)]
pub struct RedisOptions {
    /// `redis://[user:password@]host[:port][,host…][/database][?cluster=true]`, or `rediss://` for
    /// TLS, with `ca=/path` for a CA that the system does not know. Several hosts are for a Redis
    /// Cluster, of which they are some.
    pub url: String,
    /// What all keys and channels start with.
    pub namespace: String,
    /// The clock of times to live and limits. Processes that share a limit may differ by a little: an
    /// allowance moves by that much.
    pub clock: Clock,
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, namespace, clock } = self;
        f.debug_struct("RedisOptions")
            .field("url", &"…")
            .field("namespace", namespace)
            .field("clock", clock)
            .finish()
    }
}

/// Why Redis cannot be used. Never shows a password.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// The URL cannot be understood.
    #[error("the URL of Redis is wrong: {0}")]
    Address(#[from] UrlError),
    /// The CA's file cannot be read.
    #[error("cannot read the CA of Redis: {path}: {source}")]
    Ca {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The TLS set-up is refused: no certificate in the CA's file, say.
    #[error("cannot set up TLS to Redis: {0}")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
    /// No server answers.
    #[error("cannot reach Redis at {hosts}: {source}")]
    Connect {
        /// The hosts of the address.
        hosts: String,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// The connections to one Redis. They come back by themselves after an outage, and end when this
/// and its ports are dropped.
pub struct Redis {
    client: Arc<Client>,
    bus: Arc<RedisBus>,
}

impl Redis {
    /// Connects, and waits for an answer.
    ///
    /// # Errors
    ///
    /// [`RedisError`] says why Redis cannot be used.
    pub async fn connect(options: &RedisOptions) -> Result<Self, RedisError> {
        let address = RedisAddress::parse(&options.url)?;
        let hosts = address.hosts.clone();
        let failed = |source| RedisError::Connect { hosts, source };
        let client = match Client::new(&address, &options.namespace, options.clock.clone()) {
            Ok(client) => Arc::new(client),
            Err(error) => return Err(failed(error)),
        };
        if let Err(error) = client.ping().await {
            return Err(failed(error.into()));
        }
        let bus = Arc::new(RedisBus::start(Arc::clone(&client), address));
        Ok(Self { client, bus })
    }

    /// Live events.
    #[must_use]
    pub fn bus(&self) -> Arc<dyn Bus> {
        Arc::clone(&self.bus) as Arc<dyn Bus>
    }

    /// Returns when live events are not heard any more: only a fault of ours does that.
    pub async fn ended(&self) {
        self.bus.ended().await;
    }

    /// Rate limits.
    #[must_use]
    pub fn limiter(&self) -> Arc<dyn Limiter> {
        Arc::new(limiter::RedisLimiter::new(Arc::clone(&self.client)))
    }

    /// Short-lived values.
    #[must_use]
    pub fn cache(&self) -> Arc<dyn Cache> {
        Arc::new(RedisCache::new(Arc::clone(&self.client)))
    }

    /// Asks Redis for a sign of life.
    ///
    /// # Errors
    ///
    /// When there is no answer within 2 s.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.client.ping().await?)
    }
}

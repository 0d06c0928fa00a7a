//! A Redis under the conformance suite.

use std::{sync::Arc, time::Duration};

use tempfile::TempDir;
use trapline_cluster::redis::{Redis, RedisOptions};
use trapline_embedded::{Embedded, Options};
use trapline_store::{Clock, Ports, Store, conformance::Harness};

/// Redis' ports, and those of a folder for what Redis does not do.
pub(crate) struct RedisHarness {
    ports: Ports,
    clock: Clock,
    _redis: Redis,
    _embedded: Embedded,
    _folder: TempDir,
}

impl RedisHarness {
    pub(crate) async fn new(url: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Clock::fast(10);
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(options).await.expect("an open folder");
        let namespace = format!("t{}", uuid::Uuid::from_u128(seed(folder.path())).simple());
        let options =
            RedisOptions { url: url.to_owned(), namespace: namespace[..32].to_owned(), clock };
        let redis = Redis::connect(&options).await.expect("a connection to Redis");
        let ports = Ports {
            bus: redis.bus(),
            limiter: redis.limiter(),
            cache: redis.cache(),
            ..embedded.ports()
        };
        let clock = options.clock;
        Self { ports, clock, _redis: redis, _embedded: embedded, _folder: folder }
    }
}

/// A number of one's own: temporary folders have random names.
fn seed(path: &std::path::Path) -> u128 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    (path, std::process::id()).hash(&mut hasher);
    u128::from(hasher.finish()) << 64
}

impl Harness for RedisHarness {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn name(&self) -> &'static str {
        "redis"
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    async fn store_of(&self, _clock: Clock) -> Arc<dyn Store> {
        self.ports.store.clone()
    }

    async fn advance(&self, by: Duration) {
        tokio::time::sleep(self.clock.real(by)).await;
    }
}

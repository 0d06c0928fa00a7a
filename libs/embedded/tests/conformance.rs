//! The suite that every adapter must pass.

use std::{sync::Arc, time::Duration};

use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_model::Time;
use trapline_store::{
    Clock, Ports, Store,
    conformance::{self, Harness},
};

/// A folder of its own for each test, and a clock that stands still.
struct EmbeddedHarness {
    ports: Ports,
    clock: Clock,
    _embedded: Embedded,
    _folder: TempDir,
}

impl EmbeddedHarness {
    async fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Clock::manual(Time::from_millis(1_790_000_000_000));
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(options).await.expect("an open folder");
        Self { ports: embedded.ports(), clock, _embedded: embedded, _folder: folder }
    }
}

impl Harness for EmbeddedHarness {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn name(&self) -> &'static str {
        "embedded"
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    async fn store_of(&self, _clock: Clock) -> Arc<dyn Store> {
        self.ports.store.clone()
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

conformance::suite!(embedded, EmbeddedHarness::new().await);

//! How far this machine's clock is from those of the store's servers, which all processes share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trapline_store::{Clock, Store};

use crate::{log_throttle::LogThrottle, metrics};

/// Time between two measurements.
const MEASURE_INTERVAL: Duration = Duration::from_secs(30);
/// Milliseconds beyond which the log warns: machines that keep time by NTP are far closer.
const MAX_SKEW_MILLIS: i64 = 1_000;
/// An answer that took longer tells nothing.
const MAX_ROUND_TRIP: Duration = Duration::from_millis(500);
/// Stands for a skew that was not measured.
const NOT_MEASURED: i64 = i64::MIN;

/// The skew that was measured last.
pub(super) struct ClockSkew {
    store: Arc<dyn Store>,
    clock: Clock,
    millis: AtomicI64,
    beyond: LogThrottle,
}

impl ClockSkew {
    pub(super) fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock, millis: AtomicI64::new(NOT_MEASURED), beyond: LogThrottle::new() }
    }

    /// Milliseconds by which this machine's clock is ahead, or behind where negative; `None` until it
    /// was measured, and where the store is in this process.
    pub(super) fn millis(&self) -> Option<i64> {
        Some(self.millis.load(Ordering::Relaxed)).filter(|millis| *millis != NOT_MEASURED)
    }

    /// Measures until shutdown; returns at once where there is no other clock.
    pub(super) async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let measuring = async {
            loop {
                if !self.measure().await {
                    shutdown.cancelled().await;
                }
                tokio::time::sleep(MEASURE_INTERVAL).await;
            }
        };
        shutdown.run_until_cancelled(measuring).await;
    }

    /// Asks the store once; whether it has a clock of its own.
    async fn measure(&self) -> bool {
        let (before, asked) = (self.clock.machine_micros(), Instant::now());
        let theirs = match self.store.time().await {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(%error, "the store does not tell the time");
                return true;
            }
        };
        let took = asked.elapsed();
        if took <= MAX_ROUND_TRIP {
            let half = i64::try_from(took.as_micros() / 2).unwrap_or(0);
            self.note((before + half) / 1000 - theirs.millis());
        }
        true
    }

    fn note(&self, millis: i64) {
        self.millis.store(millis, Ordering::Relaxed);
        metrics::clock_skew(millis);
        if millis.abs() > MAX_SKEW_MILLIS
            && let Some(left_out) = self.beyond.due()
        {
            tracing::warn!(
                ahead_ms = millis,
                left_out,
                "this machine's clock differs from a CQL node's; keep all of them by NTP"
            );
        }
    }
}

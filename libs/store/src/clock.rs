//! The one source of time, which tests can move or let run fast.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};
use trapline_model::Time;

/// The time, real or a test's.
#[derive(Debug, Clone, Default)]
pub struct Clock(Kind);

#[derive(Debug, Clone, Default)]
enum Kind {
    #[default]
    System,
    Manual(Arc<Manual>),
    Fast {
        factor: u32,
        began: (Instant, Time),
    },
}

#[derive(Debug)]
struct Manual {
    millis: AtomicI64,
    moved: Notify,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that stands still until [`Clock::advance`].
    #[must_use]
    pub fn manual(start: Time) -> Self {
        Self(Kind::Manual(Arc::new(Manual {
            millis: AtomicI64::new(start.millis()),
            moved: Notify::new(),
        })))
    }

    /// A clock that runs `factor` times as fast as the machine's, for tests against servers whose
    /// time nobody can move: they are given [`Clock::real`] durations.
    #[must_use]
    pub fn fast(factor: u32) -> Self {
        let began = (Instant::now(), Self::system().now());
        Self(Kind::Fast { factor: factor.max(1), began })
    }

    /// The time by this clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    pub fn now(&self) -> Time {
        match &self.0 {
            Kind::System => jiff::Timestamp::now().into(),
            Kind::Manual(manual) => Time::from_millis(manual.millis.load(Ordering::SeqCst)),
            Kind::Fast { factor, began: (instant, time) } => {
                time.after(instant.elapsed() * *factor)
            }
        }
    }

    /// How long `by` takes on the machine's clock: what a server that knows no other is told.
    #[must_use]
    pub fn real(&self, by: Duration) -> Duration {
        match &self.0 {
            Kind::System | Kind::Manual(_) => by,
            Kind::Fast { factor, .. } => by / *factor,
        }
    }

    /// Moves a manual clock forward and wakes who sleeps by it; any other moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Kind::Manual(manual) = &self.0 {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.millis.fetch_add(by, Ordering::SeqCst);
            manual.moved.notify_waiters();
        }
    }

    /// Returns when this clock shows `until` or later.
    pub async fn sleep_until(&self, until: Time) {
        match &self.0 {
            Kind::Manual(manual) => loop {
                let moved = manual.moved.notified();
                if self.now() >= until {
                    return;
                }
                moved.await;
            },
            _ => tokio::time::sleep(self.real(until.since(self.now()))).await,
        }
    }

    /// Returns after `by` by this clock.
    pub async fn sleep(&self, by: Duration) {
        self.sleep_until(self.now().after(by)).await;
    }
}

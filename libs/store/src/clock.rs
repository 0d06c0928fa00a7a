//! The one source of time, which tests can move.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use std::time::Duration;
use tokio::sync::Notify;
use trapline_model::Time;

/// The time, real or a test's.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<Manual>>);

#[derive(Debug)]
struct Manual {
    millis: AtomicI64,
    moved: Notify,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands still until [`Clock::advance`].
    #[must_use]
    pub fn manual(start: Time) -> Self {
        Self(Some(Arc::new(Manual {
            millis: AtomicI64::new(start.millis()),
            moved: Notify::new(),
        })))
    }

    /// The time by this clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    pub fn now(&self) -> Time {
        match &self.0 {
            None => jiff::Timestamp::now().into(),
            Some(manual) => Time::from_millis(manual.millis.load(Ordering::SeqCst)),
        }
    }

    /// Moves a manual clock forward and wakes who sleeps by it; a system clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Some(manual) = &self.0 {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.millis.fetch_add(by, Ordering::SeqCst);
            manual.moved.notify_waiters();
        }
    }

    /// Returns when this clock shows `until` or later.
    pub async fn sleep_until(&self, until: Time) {
        match &self.0 {
            None => tokio::time::sleep(until.since(self.now())).await,
            Some(manual) => loop {
                let moved = manual.moved.notified();
                if self.now() >= until {
                    return;
                }
                moved.await;
            },
        }
    }

    /// Returns after `by` by this clock.
    pub async fn sleep(&self, by: Duration) {
        self.sleep_until(self.now().after(by)).await;
    }
}

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

/// The time, real or a test's. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    source: TimeSource,
    /// By how many milliseconds tests have set this clock forward, or back.
    turned: Arc<AtomicI64>,
}

#[derive(Debug, Clone, Default)]
enum TimeSource {
    #[default]
    System,
    Manual(Arc<Manual>),
    /// The machine's, and so much more.
    Ahead(Arc<Manual>),
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
        Self::of(TimeSource::System)
    }

    /// A clock that stands still until [`Clock::advance`].
    #[must_use]
    pub fn manual(start: Time) -> Self {
        Self::of(TimeSource::Manual(Arc::new(Manual {
            millis: AtomicI64::new(start.millis()),
            moved: Notify::new(),
        })))
    }

    /// A clock that runs like the machine's, and [`Clock::advance`] puts it ahead, for tests that live
    /// through a month in minutes.
    #[must_use]
    pub fn ahead() -> Self {
        Self::of(TimeSource::Ahead(Arc::new(Manual {
            millis: AtomicI64::new(0),
            moved: Notify::new(),
        })))
    }

    /// A clock that runs `factor` times as fast as the machine's, for tests against servers whose
    /// time nobody can move: they are given [`Clock::real`] durations.
    #[must_use]
    pub fn fast(factor: u32) -> Self {
        let began = (Instant::now(), Self::system().now());
        Self::of(TimeSource::Fast { factor: factor.max(1), began })
    }

    fn of(source: TimeSource) -> Self {
        Self { source, turned: Arc::default() }
    }

    /// The clock of another machine, which is ahead of this one by so many milliseconds, or behind
    /// where that is negative. It moves with this one, and is set apart from it.
    #[must_use]
    pub fn apart(&self, millis: i64) -> Self {
        let turned = self.turned.load(Ordering::SeqCst).saturating_add(millis);
        Self { source: self.source.clone(), turned: Arc::new(AtomicI64::new(turned)) }
    }

    /// Sets the clock forward by so many milliseconds, or back where that is negative, as somebody
    /// sets a machine's. Nobody who sleeps by it notices.
    pub fn turn(&self, millis: i64) {
        self.turned.fetch_add(millis, Ordering::SeqCst);
    }

    /// The time by this clock.
    #[must_use]
    pub fn now(&self) -> Time {
        let time = match &self.source {
            TimeSource::System => machine_time().into(),
            TimeSource::Manual(manual) => Time::from_millis(manual.millis.load(Ordering::SeqCst)),
            TimeSource::Ahead(ahead) => {
                let by = u64::try_from(ahead.millis.load(Ordering::SeqCst)).unwrap_or(0);
                Self::system().now().after(Duration::from_millis(by))
            }
            TimeSource::Fast { factor, began: (instant, time) } => {
                time.after(instant.elapsed() * *factor)
            }
        };
        match self.turned.load(Ordering::Relaxed) {
            0 => time,
            turned => Time::from_millis(time.millis().saturating_add(turned)),
        }
    }

    /// Microseconds since 1970 by the machine's clock, which a clock of tests that runs fast or ahead has
    /// beside its own: what servers order writes by, and what can be compared with their clocks.
    #[must_use]
    pub fn machine_micros(&self) -> i64 {
        let micros = match &self.source {
            TimeSource::System | TimeSource::Ahead(_) | TimeSource::Fast { .. } => {
                machine_time().as_microsecond()
            }
            TimeSource::Manual(manual) => manual.millis.load(Ordering::SeqCst).saturating_mul(1000),
        };
        micros.saturating_add(self.turned.load(Ordering::Relaxed).saturating_mul(1000))
    }

    /// How long `by` takes on the machine's clock: what a server that knows no other is told.
    #[must_use]
    pub fn real(&self, by: Duration) -> Duration {
        match &self.source {
            TimeSource::System | TimeSource::Manual(_) | TimeSource::Ahead(_) => by,
            TimeSource::Fast { factor, .. } => by / *factor,
        }
    }

    /// Moves a manual clock, or one that is ahead, forward and wakes who sleeps by it; any other moves
    /// by itself.
    pub fn advance(&self, by: Duration) {
        if let TimeSource::Manual(manual) | TimeSource::Ahead(manual) = &self.source {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            manual.millis.fetch_add(by, Ordering::SeqCst);
            manual.moved.notify_waiters();
        }
    }

    /// Returns when this clock shows `until` or later.
    pub async fn sleep_until(&self, until: Time) {
        match &self.source {
            TimeSource::Manual(manual) => loop {
                let moved = manual.moved.notified();
                if self.now() >= until {
                    return;
                }
                moved.await;
            },
            TimeSource::Ahead(ahead) => loop {
                let moved = ahead.moved.notified();
                let left = until.since(self.now());
                if left.is_zero() || tokio::time::timeout(left, moved).await.is_err() {
                    return;
                }
            },
            TimeSource::System | TimeSource::Fast { .. } => {
                tokio::time::sleep(self.real(until.since(self.now()))).await;
            }
        }
    }

    /// Returns after `by` by this clock.
    pub async fn sleep(&self, by: Duration) {
        self.sleep_until(self.now().after(by)).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
fn machine_time() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

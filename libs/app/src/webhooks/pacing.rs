//! How often a webhook's backlog is read. A run costs a cluster some writes to its store and its queue, whether
//! it finds much or little; one process pays next to nothing for it, and is on time instead.

use std::time::Duration;

/// Bounds for the runs over one backlog.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pacing {
    /// The least time between the runs of a job. What is due meanwhile waits for it.
    pub(super) interval: Duration,
    /// A job that is due later than this is not taken yet, though clocks differ. At most the least lateness.
    pub(super) clock_tolerance: Duration,
    min_lateness: Duration,
    max_lateness: Duration,
}

impl Pacing {
    /// Where one process has all backlogs.
    const ALONE: Self = Self {
        interval: Duration::from_millis(200),
        clock_tolerance: Duration::from_millis(100),
        min_lateness: Duration::from_millis(200),
        max_lateness: Duration::from_millis(200),
    };
    /// Where processes share them.
    pub(super) const SHARED: Self = Self {
        interval: Duration::from_secs(5),
        clock_tolerance: Duration::from_secs(2),
        min_lateness: Duration::from_secs(5),
        max_lateness: Duration::from_mins(1),
    };

    pub(super) fn of(is_alone: bool) -> Self {
        if is_alone { Self::ALONE } else { Self::SHARED }
    }

    /// How much later than an entry its job may be due: a quarter of the wait, within bounds.
    pub(super) fn lateness(self, wait: Duration) -> Duration {
        (wait / 4).clamp(self.min_lateness, self.max_lateness)
    }
}

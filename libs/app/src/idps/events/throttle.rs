//! Which entries are written: of a flood only some, so that a load test neither fills the store nor
//! pushes what went wrong out of the log.

use std::sync::{Arc, Mutex, PoisonError};

use moka::sync::Cache;
use trapline_model::{IdpId, Time};
use trapline_store::Clock;

use super::TRIM_INTERVAL;

/// Entries at once, and so many more each second.
const BURST: u64 = 1_000;
const PER_SECOND: u64 = 100;
/// Providers that are counted; of each some 200 bytes.
const CAPACITY: u64 = 10_000;

/// Counts the entries of providers in this process.
pub(in crate::idps) struct EventThrottle {
    clock: Clock,
    counts: Cache<IdpId, Arc<Mutex<EventCounts>>>,
}

/// What is left for failures and for successes, and how many entries were written.
struct EventCounts {
    left: [EventAllowance; 2],
    written: u64,
}

struct EventAllowance {
    left: u64,
    /// Up to when the allowance was given.
    since: Time,
    suppressed: u64,
}

impl EventThrottle {
    pub(in crate::idps) fn new(clock: Clock) -> Self {
        Self { clock, counts: Cache::new(CAPACITY) }
    }

    fn counts(&self, idp: IdpId) -> Arc<Mutex<EventCounts>> {
        let since = self.clock.now();
        let whole = || EventAllowance { left: BURST, since, suppressed: 0 };
        self.counts.get_with(idp, || {
            Arc::new(Mutex::new(EventCounts { left: [whole(), whole()], written: 0 }))
        })
    }

    /// Whether an entry is written, and then how many like it were not since the last one.
    pub(super) fn admit(&self, idp: IdpId, is_ok: bool) -> Option<u64> {
        let counts = self.counts(idp);
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.left[usize::from(is_ok)].admit(self.clock.now())
    }

    /// Whether it is time to look for entries that are too many, after one was written.
    pub(super) fn is_trim_due(&self, idp: IdpId) -> bool {
        let counts = self.counts(idp);
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.written += 1;
        counts.written.is_multiple_of(TRIM_INTERVAL)
    }
}

impl EventAllowance {
    fn admit(&mut self, now: Time) -> Option<u64> {
        let seconds = now.since(self.since).as_secs();
        if seconds > 0 {
            self.left = self.left.saturating_add(seconds.saturating_mul(PER_SECOND)).min(BURST);
            self.since = now;
        }
        if self.left == 0 {
            self.suppressed += 1;
            return None;
        }
        self.left -= 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flood_of_successes_hides_no_failure_and_is_counted() {
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let throttle = EventThrottle::new(clock.clone());
        let idp = IdpId(uuid::Uuid::max());
        for _ in 0..BURST {
            assert_eq!(throttle.admit(idp, true), Some(0));
        }
        assert_eq!((throttle.admit(idp, true), throttle.admit(idp, true)), (None, None));
        assert_eq!(throttle.admit(idp, false), Some(0));
        clock.advance(Duration::from_secs(1));
        assert_eq!(throttle.admit(idp, true), Some(2));
        assert_eq!(throttle.admit(idp, true), Some(0));
    }

    #[test]
    fn a_log_is_trimmed_once_in_a_while() {
        let throttle = EventThrottle::new(Clock::manual(Time::from_millis(0)));
        let idp = IdpId(uuid::Uuid::max());
        let due = (0..3 * TRIM_INTERVAL).filter(|_| throttle.is_trim_due(idp)).count();
        assert_eq!(due, 3);
    }
}

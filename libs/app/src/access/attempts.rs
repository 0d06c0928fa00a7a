//! Failed authentications, by the client's address: after some of them a client is slowed down, so
//! that guesses cost neither reads of the store nor much of the processor.

use std::{net::IpAddr, time::Duration};

use moka::{ops::compute::Op, sync::Cache};
use trapline_model::Time;

use super::AccessControl;
use crate::{Error, Result, metrics};

/// Failures that are free.
const FREE_FAILURES: u32 = 50;
/// The time after which one more is.
const FAILURE_PERIOD: Duration = Duration::from_millis(100);
/// Addresses that are known at the same time; beyond them the least used is forgotten.
const CACHE_CAPACITY: u64 = 100_000;
/// How long a key that worked is let through whatever others at its address do.
const TRUSTED_FOR: Duration = Duration::from_hours(1);

/// What is remembered of keys and clients; nothing of it lets anybody in.
pub(crate) struct FailedAttempts {
    /// When the allowance of an address is whole again.
    whole_at: Cache<IpAddr, Time>,
    /// Hashes of keys that were not there.
    unknown: Cache<String, ()>,
    /// Hashes of keys that were.
    trusted: Cache<String, ()>,
}

impl FailedAttempts {
    /// `known` keys of each kind; one that was not there is looked up again after `for_time`.
    pub(crate) fn new(known: u64, for_time: Duration) -> Self {
        Self {
            whole_at: Cache::builder()
                .max_capacity(CACHE_CAPACITY)
                .time_to_idle(FAILURE_PERIOD * FREE_FAILURES * 2)
                .build(),
            unknown: Cache::builder().max_capacity(known).time_to_live(for_time).build(),
            trusted: Cache::builder().max_capacity(known).time_to_live(TRUSTED_FOR).build(),
        }
    }

    /// Whether the key was looked for a moment ago, and not found.
    pub(crate) fn is_unknown(&self, sha256: &str) -> bool {
        self.unknown.contains_key(sha256)
    }

    pub(crate) fn is_trusted(&self, sha256: &str) -> bool {
        self.trusted.contains_key(sha256)
    }

    pub(crate) fn found(&self, sha256: &str) {
        self.trusted.insert(sha256.to_owned(), ());
    }

    /// A key may be looked for before it is made.
    pub(crate) fn made(&self, sha256: &str) {
        self.unknown.invalidate(sha256);
    }

    pub(crate) fn not_found(&self, sha256: &str) {
        self.trusted.invalidate(sha256);
        self.unknown.insert(sha256.to_owned(), ());
    }

    /// How long the address has to wait, if it has.
    fn wait(&self, address: IpAddr, now: Time) -> Option<Duration> {
        let ahead = self.whole_at.get(&address)?.since(now);
        let over = ahead.saturating_sub(FAILURE_PERIOD * (FREE_FAILURES - 1));
        (!over.is_zero()).then_some(over)
    }

    fn fail(&self, address: IpAddr, now: Time) {
        self.whole_at.entry(address).and_compute_with(|known| {
            let whole_at = known.map_or(now, |known| known.into_value().max(now));
            // Failures that were under way when the allowance ended put nobody off for longer.
            let most = now.after(FAILURE_PERIOD * FREE_FAILURES);
            Op::Put(whole_at.after(FAILURE_PERIOD).min(most))
        });
    }
}

impl AccessControl {
    /// Refuses a client whose allowance of failures is used up. Without an address nobody is.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`], with the time after which one more try is free.
    pub fn may_try(&self, address: Option<IpAddr>) -> Result<()> {
        let wait = address.and_then(|address| self.attempts.wait(address, self.clock.now()));
        wait.map_or(Ok(()), |retry_after| {
            metrics::auth_failed("limited");
            Err(Error::TooMany { retry_after })
        })
    }

    /// Takes note of a failure; `kind` is its word in the metrics.
    pub fn tried_in_vain(&self, address: Option<IpAddr>, kind: &'static str) {
        metrics::auth_failed(kind);
        if let Some(address) = address {
            self.attempts.fail(address, self.clock.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_slowed_down_and_others_are_not() {
        let attempts = FailedAttempts::new(10, Duration::from_secs(5));
        let (one, two) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let mut now = Time::from_millis(1_000_000);
        for _ in 0..FREE_FAILURES {
            assert_eq!(attempts.wait(one, now), None);
            attempts.fail(one, now);
        }
        assert_eq!(attempts.wait(one, now), Some(FAILURE_PERIOD));
        assert_eq!(attempts.wait(two, now), None);
        for _ in 0..1_000 {
            attempts.fail(one, now);
        }
        assert_eq!(attempts.wait(one, now), Some(FAILURE_PERIOD), "for no longer than this");
        now = now.after(FAILURE_PERIOD);
        assert_eq!(attempts.wait(one, now), None);
        attempts.fail(one, now);
        assert_eq!(attempts.wait(one, now), Some(FAILURE_PERIOD));
    }
}

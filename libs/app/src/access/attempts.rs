//! Looks credentials up, and counts failed authentications by the client's address: after some of them
//! a client is slowed down, so that guesses cost neither reads of the store nor much of the processor.

use std::{net::IpAddr, time::Duration};

use moka::{ops::compute::Op, sync::Cache};
use trapline_model::Time;
use trapline_store::{Key, Record, load};

use super::AccessControl;
use crate::{Error, Result, metrics};

/// Failures of one address that cause no delay.
const FREE_FAILURES: u32 = 50;
/// Time after which one failure of an address is forgiven.
const FAILURE_PERIOD: Duration = Duration::from_millis(100);
/// Addresses whose failures are remembered; beyond them the least recently used is forgotten.
const CACHE_CAPACITY: u64 = 100_000;
/// How long a credential that was found is looked up again, however often others at its address fail.
const TRUSTED_FOR: Duration = Duration::from_hours(1);

/// What is remembered of credentials (API keys and session tokens) and of clients; nothing of it lets
/// anybody in.
pub(super) struct FailedAttempts {
    /// When all failures of an address are forgiven.
    full_at: Cache<IpAddr, Time>,
    /// SHA-256 of credentials that are not in the store.
    unknown: Cache<String, ()>,
    /// SHA-256 of credentials that are in the store.
    trusted: Cache<String, ()>,
}

impl FailedAttempts {
    /// Remembers up to `known` credentials of each kind; an unknown one is looked up again after
    /// `for_time`.
    pub(super) fn new(known: u64, for_time: Duration) -> Self {
        Self {
            full_at: Cache::builder()
                .max_capacity(CACHE_CAPACITY)
                .time_to_idle(FAILURE_PERIOD * FREE_FAILURES * 2)
                .build(),
            unknown: Cache::builder().max_capacity(known).time_to_live(for_time).build(),
            trusted: Cache::builder().max_capacity(known).time_to_live(TRUSTED_FOR).build(),
        }
    }

    /// Notes a new key, which may have been looked up before it was made.
    pub(super) fn note_created(&self, sha256: &str) {
        self.unknown.invalidate(sha256);
    }

    fn note_known(&self, sha256: &str) {
        self.trusted.insert(sha256.to_owned(), ());
    }

    fn note_unknown(&self, sha256: &str) {
        self.trusted.invalidate(sha256);
        self.unknown.insert(sha256.to_owned(), ());
    }

    /// How long the address has to wait before its next attempt; `None` when it may try now.
    fn wait(&self, address: IpAddr, now: Time) -> Option<Duration> {
        let ahead = self.full_at.get(&address)?.since(now);
        let over = ahead.saturating_sub(FAILURE_PERIOD * (FREE_FAILURES - 1));
        (!over.is_zero()).then_some(over)
    }

    fn fail(&self, address: IpAddr, now: Time) {
        self.full_at.entry(address).and_compute_with(|known| {
            let full_at = known.map_or(now, |known| known.into_value().max(now));
            // Failures that were under way when the allowance ended put nobody off for longer.
            let most = now.after(FAILURE_PERIOD * FREE_FAILURES);
            Op::Put(full_at.after(FAILURE_PERIOD).min(most))
        });
    }
}

impl AccessControl {
    /// The record of a credential with this SHA-256 in hex, and its version; `None` when there is none,
    /// which the caller counts by [`AccessControl::record_auth_failure`]. A credential that is unknown is
    /// looked up once in 5 s.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] for an address that failed too often, unless the credential was found within the
    /// last hour; and when the store does not answer.
    pub(crate) async fn look_up_credential<R: Record>(
        &self,
        sha256: &str,
        row: &Key,
        address: Option<IpAddr>,
    ) -> Result<Option<(R, i64)>> {
        if !self.attempts.trusted.contains_key(sha256) {
            self.check_auth_attempts(address)?;
        }
        if self.attempts.unknown.contains_key(sha256) {
            return Ok(None);
        }
        let found = load::<R>(&*self.store, row).await?;
        match found {
            Some(_) => self.attempts.note_known(sha256),
            None => self.attempts.note_unknown(sha256),
        }
        Ok(found)
    }

    /// Checks that the client at this address has not failed too often; without an address there is no
    /// bound.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`], with the time after which one more try is free.
    pub fn check_auth_attempts(&self, address: Option<IpAddr>) -> Result<()> {
        let wait = address.and_then(|address| self.attempts.wait(address, self.clock.now()));
        wait.map_or(Ok(()), |retry_after| {
            metrics::auth_failed("limited");
            Err(Error::TooMany { retry_after })
        })
    }

    /// Counts a failed authentication of the client; `kind` is the metric's label.
    pub fn record_auth_failure(&self, address: Option<IpAddr>, kind: &'static str) {
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

//! Slows down who guesses passwords, by the client's address.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use moka::sync::Cache;
use tokio::{
    sync::Semaphore,
    time::{self, Duration, Instant},
};
use trapline_smtp::Reject;

/// Addresses that are remembered, and for how long after their last attempt.
const MAX_ADDRESSES: u64 = 10_000;
const IDLE_TTL: Duration = Duration::from_mins(10);
/// After this time, one failure of an address is forgiven.
const FORGIVE_INTERVAL: Duration = Duration::from_secs(10);
/// The first delay; each further failure doubles it, up to the longest.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const MAX_DELAY: Duration = Duration::from_secs(5);
/// Failures that count beyond those without a delay, so that a past flood is forgiven in a minute.
const MAX_COUNTED_FAILURES: u32 = 6;
/// Attempts of one address at once, delays included. They bound the guesses however many connections
/// there are.
const MAX_CONCURRENT_ATTEMPTS: usize = 64;

/// The failed attempts of each address.
pub(super) struct AuthThrottle {
    /// Failures without a delay.
    free_failures: u32,
    by_address: Cache<IpAddr, Arc<PeerAttempts>>,
}

struct PeerAttempts {
    attempts: Semaphore,
    failures: Mutex<(u32, Instant)>,
}

impl AuthThrottle {
    /// The answers to all failures but the first `free_failures` of an address are delayed.
    pub(super) fn new(free_failures: u32) -> Self {
        let by_address =
            Cache::builder().max_capacity(MAX_ADDRESSES).time_to_idle(IDLE_TTL).build();
        Self { free_failures, by_address }
    }

    /// Makes an attempt. What is right is answered at once, whatever failed before.
    pub(super) async fn attempt<T>(
        &self,
        peer: IpAddr,
        check: impl Future<Output = Result<T, Reject>>,
    ) -> Result<T, Reject> {
        let peer = self.by_address.get_with(trapline_smtp::network(peer), || {
            let failures = Mutex::new((0, Instant::now()));
            Arc::new(PeerAttempts { attempts: Semaphore::new(MAX_CONCURRENT_ATTEMPTS), failures })
        });
        let _permit = peer.attempts.acquire().await;
        let outcome = check.await;
        if outcome.as_ref().is_err_and(|reject| reject.code == 535) {
            time::sleep(peer.failed(self.free_failures)).await;
        }
        outcome
    }
}

impl PeerAttempts {
    /// Counts a failure, and says how long its answer has to wait.
    fn failed(&self, free: u32) -> Duration {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, since) = &mut *failures;
        let forgiven = since.elapsed().as_secs() / FORGIVE_INTERVAL.as_secs();
        if forgiven > 0 {
            *count = count.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX));
            *since = Instant::now();
        }
        *count = (*count + 1).min(free.saturating_add(MAX_COUNTED_FAILURES));
        match count.saturating_sub(free) {
            0 => Duration::ZERO,
            over => (FIRST_DELAY * 2_u32.pow(over.min(MAX_COUNTED_FAILURES) - 1)).min(MAX_DELAY),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const WRONG: Result<(), Reject> = Err(Reject::bad_credentials());

    fn address(host: u8) -> IpAddr {
        [127, 0, 0, host].into()
    }

    /// How long the answer took.
    async fn answer(throttle: &AuthThrottle, host: u8, outcome: Result<(), Reject>) -> Duration {
        let began = Instant::now();
        drop(throttle.attempt(address(host), async { outcome }).await);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn only_many_failures_are_delayed() {
        let throttle = AuthThrottle::new(3);
        for expected in [0, 0, 0, 250, 500, 1000, 2000, 4000, 5000, 5000] {
            assert_eq!(answer(&throttle, 1, WRONG).await.as_millis(), expected);
        }
        assert_eq!(answer(&throttle, 1, Ok(())).await, Duration::ZERO, "right at once");
        assert_eq!(answer(&throttle, 2, WRONG).await, Duration::ZERO, "another address");
        time::sleep(2 * Duration::from_mins(1)).await;
        assert_eq!(answer(&throttle, 1, WRONG).await, Duration::ZERO, "forgiven");
    }

    #[tokio::test(start_paused = true)]
    async fn many_connections_guess_no_faster() {
        let throttle = Arc::new(AuthThrottle::new(0));
        let began = Instant::now();
        let mut attempts = tokio::task::JoinSet::new();
        for _ in 0..1000 {
            let throttle = Arc::clone(&throttle);
            attempts.spawn(async move { answer(&throttle, 1, WRONG).await });
        }
        while let Some(ended) = attempts.join_next().await {
            ended.unwrap();
        }
        assert!(began.elapsed() > Duration::from_mins(1), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn what_could_not_be_checked_is_no_failure() {
        let throttle = AuthThrottle::new(0);
        let failed = Err(Reject::cannot_authenticate());
        assert_eq!(answer(&throttle, 1, failed).await, Duration::ZERO);
    }
}

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
const ADDRESSES: u64 = 10_000;
const REMEMBERED: Duration = Duration::from_mins(10);
/// After this time, one failure of an address is forgiven.
const FORGIVEN: Duration = Duration::from_secs(10);
/// The first delay; each further failure doubles it, up to the longest.
const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(5);
/// Failures that count beyond those without a delay, so that a past flood is forgiven in a minute.
const COUNTED: u32 = 6;
/// Attempts of one address at once, delays included. They bound the guesses however many connections
/// there are.
const AT_ONCE: usize = 64;

/// The failed attempts of each address.
pub(super) struct Guesses {
    /// Failures without a delay.
    free: u32,
    by_address: Cache<IpAddr, Arc<Client>>,
}

struct Client {
    attempts: Semaphore,
    failures: Mutex<(u32, Instant)>,
}

impl Guesses {
    /// The answers to all failures but the first `free` of an address are delayed.
    pub(super) fn new(free: u32) -> Self {
        let by_address = Cache::builder().max_capacity(ADDRESSES).time_to_idle(REMEMBERED).build();
        Self { free, by_address }
    }

    /// Makes an attempt. What is right is answered at once, whatever failed before.
    pub(super) async fn attempt<T>(
        &self,
        peer: IpAddr,
        check: impl Future<Output = Result<T, Reject>>,
    ) -> Result<T, Reject> {
        let client = self.by_address.get_with(trapline_smtp::network(peer), || {
            let failures = Mutex::new((0, Instant::now()));
            Arc::new(Client { attempts: Semaphore::new(AT_ONCE), failures })
        });
        let _turn = client.attempts.acquire().await;
        let outcome = check.await;
        if outcome.as_ref().is_err_and(|reject| reject.code == 535) {
            time::sleep(client.failed(self.free)).await;
        }
        outcome
    }
}

impl Client {
    /// Counts a failure, and says how long its answer has to wait.
    fn failed(&self, free: u32) -> Duration {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, since) = &mut *failures;
        let forgiven = since.elapsed().as_secs() / FORGIVEN.as_secs();
        if forgiven > 0 {
            *count = count.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX));
            *since = Instant::now();
        }
        *count = (*count + 1).min(free.saturating_add(COUNTED));
        match count.saturating_sub(free) {
            0 => Duration::ZERO,
            over => (FIRST * 2_u32.pow(over.min(COUNTED) - 1)).min(LONGEST),
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
    async fn answer(guesses: &Guesses, host: u8, outcome: Result<(), Reject>) -> Duration {
        let began = Instant::now();
        drop(guesses.attempt(address(host), async { outcome }).await);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn only_many_failures_are_delayed() {
        let guesses = Guesses::new(3);
        for expected in [0, 0, 0, 250, 500, 1000, 2000, 4000, 5000, 5000] {
            assert_eq!(answer(&guesses, 1, WRONG).await.as_millis(), expected);
        }
        assert_eq!(answer(&guesses, 1, Ok(())).await, Duration::ZERO, "right at once");
        assert_eq!(answer(&guesses, 2, WRONG).await, Duration::ZERO, "another address");
        time::sleep(2 * Duration::from_mins(1)).await;
        assert_eq!(answer(&guesses, 1, WRONG).await, Duration::ZERO, "forgiven");
    }

    #[tokio::test(start_paused = true)]
    async fn many_connections_guess_no_faster() {
        let guesses = Arc::new(Guesses::new(0));
        let began = Instant::now();
        let mut attempts = tokio::task::JoinSet::new();
        for _ in 0..1000 {
            let guesses = Arc::clone(&guesses);
            attempts.spawn(async move { answer(&guesses, 1, WRONG).await });
        }
        while let Some(ended) = attempts.join_next().await {
            ended.unwrap();
        }
        assert!(began.elapsed() > Duration::from_mins(1), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn what_could_not_be_checked_is_no_failure() {
        let guesses = Guesses::new(0);
        let failed = Err(Reject::cannot_authenticate());
        assert_eq!(answer(&guesses, 1, failed).await, Duration::ZERO);
    }
}

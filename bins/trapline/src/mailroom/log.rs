//! One line for each mail and each refusal: ids, codes and the client's address, but no mail
//! addresses. A flood of them doesn't fill a disk.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use moka::sync::Cache;
use tokio::time::Instant;

/// Addresses whose lines are counted.
const MAX_ADDRESSES: u64 = 10_000;
/// Lines of one address: how many at once, and how many more each second.
const ADDRESS_LINES: (u64, u64) = (1_000, 10);
/// Lines of all addresses: how many at once, and how many more each second.
const ALL_LINES: (u64, u64) = (5_000, 50);

/// Writes lines, within bounds for each address and for all.
pub(super) struct MailLog {
    by_address: Cache<IpAddr, Arc<Mutex<TokenBucket>>>,
    all: Mutex<TokenBucket>,
}

/// A token bucket: up to `most` lines at once, and `each_second` more a second.
struct TokenBucket {
    most: u64,
    each_second: u64,
    left: u64,
    since: Instant,
    suppressed: u64,
}

impl TokenBucket {
    fn new((most, each_second): (u64, u64)) -> Self {
        Self { most, each_second, left: most, since: Instant::now(), suppressed: 0 }
    }

    /// Takes one line, with how many were left out before it; or leaves it out.
    fn take(&mut self) -> Option<u64> {
        let seconds = self.since.elapsed().as_secs();
        if seconds > 0 {
            let more = seconds.saturating_mul(self.each_second);
            self.left = self.left.saturating_add(more).min(self.most);
            self.since = Instant::now();
        }
        if self.left == 0 {
            self.suppressed += 1;
            return None;
        }
        self.left -= 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

impl MailLog {
    pub(super) fn new() -> Self {
        let by_address = Cache::builder().max_capacity(MAX_ADDRESSES).build();
        Self { by_address, all: Mutex::new(TokenBucket::new(ALL_LINES)) }
    }

    /// Whether a line about `peer` may be written, and how many were left out before it.
    pub(super) fn take(&self, peer: IpAddr) -> Option<Suppressed> {
        let one = self.by_address.get_with(trapline_smtp::network(peer), || {
            Arc::new(Mutex::new(TokenBucket::new(ADDRESS_LINES)))
        });
        let of_one = one.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let of_all = self.all.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Suppressed(of_one + of_all))
    }

    /// Writes that something was refused.
    pub(super) fn refused(&self, peer: IpAddr, stage: &str, code: u16, inbox: Option<&str>) {
        if let Some(suppressed) = self.take(peer) {
            let suppressed = suppressed.field();
            tracing::info!(client = %peer, stage, code, inbox, suppressed, "refused");
        }
    }

    /// Writes that a mail was taken.
    pub(super) fn accepted(&self, peer: IpAddr, inboxes: &str, messages: &str, octets: usize) {
        if let Some(suppressed) = self.take(peer) {
            let suppressed = suppressed.field();
            tracing::info!(client = %peer, inboxes, messages, octets, suppressed, "mail accepted");
        }
    }
}

/// How many lines were left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Suppressed(u64);

impl Suppressed {
    /// Nothing when there were none.
    fn field(&self) -> Option<u64> {
        (self.0 > 0).then_some(self.0)
    }
}

/// The first five ids, and how many more there are.
pub(super) fn first_ids<T: ToString>(ids: impl ExactSizeIterator<Item = T>) -> String {
    const SHOWN: usize = 5;
    let more = ids.len().saturating_sub(SHOWN);
    let text = ids.take(SHOWN).map(|id| id.to_string()).collect::<Vec<_>>().join(" ");
    if more > 0 { format!("{text} +{more} more") } else { text }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_cut_and_counted() {
        let lines = MailLog::new();
        let one = IpAddr::from([127, 0, 0, 1]);
        let written = (0..3_000).filter(|_| lines.take(one).is_some()).count();
        assert_eq!(written, 1_000);
        assert_eq!(lines.take([127, 0, 0, 2].into()), Some(Suppressed(0)), "another address");
        sleep(Duration::from_secs(1)).await;
        assert_eq!(lines.take(one), Some(Suppressed(2_000)));
        assert_eq!((0..100).filter(|_| lines.take(one).is_some()).count(), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_are_cut_together() {
        let lines = MailLog::new();
        let peer = |n: u32| IpAddr::from(n.to_be_bytes());
        let written = (0..20_000).filter(|n| lines.take(peer(*n)).is_some()).count();
        assert_eq!(written, 5_000);
    }

    #[test]
    fn many_ids_are_cut() {
        assert_eq!(first_ids([1, 2].into_iter()), "1 2");
        assert_eq!(first_ids((1..=7).collect::<Vec<_>>().into_iter()), "1 2 3 4 5 +2 more");
    }
}

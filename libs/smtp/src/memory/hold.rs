//! Who holds memory, since when, and who has to give it back because others wait.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use tokio::{
    sync::Notify,
    time::{Duration, Instant},
};

use super::payer::Payers;

/// One buffer of a body that comes in.
#[derive(Debug)]
pub struct Hold {
    pub(super) payers: Payers,
    granted: Instant,
    /// When octets last came, in milliseconds since `granted`.
    progress: AtomicU64,
    /// Whether the client has nothing to answer for: the body is complete, or waits for memory.
    excused: AtomicBool,
    revoked: AtomicBool,
    told: Notify,
}

impl Hold {
    pub(super) fn new(payers: Payers) -> Self {
        Self {
            payers,
            granted: Instant::now(),
            progress: AtomicU64::new(0),
            excused: AtomicBool::new(false),
            revoked: AtomicBool::new(false),
            told: Notify::new(),
        }
    }

    /// Octets came.
    pub fn touch(&self) {
        let since = self.granted.elapsed().as_millis();
        self.progress.store(u64::try_from(since).unwrap_or(u64::MAX), Relaxed);
    }

    /// From here on it isn't the client who takes time.
    pub fn excuse(&self) {
        self.excused.store(true, Relaxed);
    }

    /// Waits until the buffer must be given back. One task at a time may wait.
    pub async fn revoked(&self) {
        self.told.notified().await;
    }

    fn revoke(&self) {
        self.revoked.store(true, Relaxed);
        self.told.notify_one();
    }

    /// When the client is too slow, if no more octets come.
    fn due(&self, pace: Pace) -> Instant {
        let progress = Duration::from_millis(self.progress.load(Relaxed));
        self.granted + pace.whole.min(progress + pace.silence)
    }
}

/// How fast a body must come in while others wait for memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The longest silence.
    pub(super) silence: Duration,
    /// The time to fill a buffer.
    pub(super) whole: Duration,
}

/// All buffers of one size.
#[derive(Debug, Default)]
pub(super) struct Holds {
    open: BTreeMap<u64, Arc<Hold>>,
    next: u64,
    /// When the next check for slow ones is due, so that many who wait don't all check.
    next_check: Option<Instant>,
}

impl Holds {
    pub(super) fn add(&mut self, hold: Arc<Hold>) -> u64 {
        self.next += 1;
        self.open.insert(self.next, hold);
        self.next
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// Revokes what the slowest hold, at most as many as wait, and says when to check again.
    pub(super) fn revoke_slow(
        &mut self,
        pace: Pace,
        waiting: usize,
        in_the_way: impl Fn(&Hold) -> bool,
    ) -> Instant {
        let now = Instant::now();
        if let Some(next_check) = self.next_check.filter(|next_check| *next_check > now) {
            return next_check;
        }
        let ending = self.open.values().filter(|hold| hold.revoked.load(Relaxed)).count();
        let mut slow: Vec<_> = self
            .open
            .values()
            .filter(|hold| !hold.revoked.load(Relaxed) && !hold.excused.load(Relaxed))
            .map(|hold| (hold.due(pace), hold))
            .filter(|(due, hold)| *due <= now && in_the_way(hold))
            .collect();
        slow.sort_by_key(|(due, _)| *due);
        for (_, hold) in slow.into_iter().take(waiting.saturating_sub(ending)) {
            hold.revoke();
        }
        let next_check = now + (pace.silence / 8).clamp(MIN_CHECK_INTERVAL, MAX_CHECK_INTERVAL);
        self.next_check = Some(next_check);
        next_check
    }
}

/// Bounds of the time between two checks.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(10);
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(1);

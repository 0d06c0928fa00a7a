//! Parked waits and event streams: so many in the process, and a share of them for each team; and how
//! many streams follow each inbox.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use trapline_model::{InboxId, TeamId};

use super::LiveUpdates;
use crate::{Error, Result};

/// Parked waits and event streams that read the store at the same time.
const MAX_CONCURRENT_READS: usize = 16;
/// Those of one queue that read, or wait for one of [`MAX_CONCURRENT_READS`].
const READS_PER_QUEUE: usize = 4;
/// Queues of readers, by their inbox: a reader waits for few of each other queue, not for all readers.
const QUEUES: usize = 64;
/// What one write to one of an inbox's streams is to take of the time, so that there are at most so
/// many in a second however many streams and events there are.
const MAX_WRITES_PER_SECOND: u32 = 4_000;

/// Counts what is open; a team is known while it has something open.
pub(crate) struct Streams {
    max: usize,
    max_per_team: usize,
    open: Mutex<OpenStreams>,
    reads: Semaphore,
    queues: [Semaphore; QUEUES],
}

#[derive(Default)]
struct OpenStreams {
    total: usize,
    teams: HashMap<TeamId, usize>,
    /// Event streams by inbox.
    followers: HashMap<InboxId, usize>,
}

/// One parked wait or event stream, until it is dropped.
pub(crate) struct StreamPermit {
    streams: Arc<Streams>,
    team: TeamId,
}

/// The right to read the store, until it is dropped.
pub(crate) struct ReadPermit<'a> {
    _read: SemaphorePermit<'a>,
    _place: SemaphorePermit<'a>,
}

impl Streams {
    pub(crate) fn new(max: usize, max_per_team: usize) -> Arc<Self> {
        let reads = Semaphore::new(MAX_CONCURRENT_READS);
        let queues = std::array::from_fn(|_| Semaphore::new(READS_PER_QUEUE));
        Arc::new(Self { max, max_per_team, open: Mutex::default(), reads, queues })
    }

    pub(crate) fn acquire(self: &Arc<Self>, team: TeamId) -> Result<StreamPermit> {
        let mut open = self.open();
        if open.teams.get(&team).copied().unwrap_or_default() >= self.max_per_team {
            return Err(Error::TooManyStreams { of_team: true });
        }
        if open.total >= self.max {
            return Err(Error::TooManyStreams { of_team: false });
        }
        open.total += 1;
        *open.teams.entry(team).or_default() += 1;
        Ok(StreamPermit { streams: self.clone(), team })
    }

    /// How many waits and streams are open.
    pub(crate) fn len(&self) -> usize {
        self.open().total
    }

    /// Waits for a permit to read the store for an inbox: behind the readers of the same queue, and few of
    /// each other one.
    pub(crate) async fn read_permit(&self, inbox: InboxId) -> Option<ReadPermit<'_>> {
        let queue = inbox.0.as_u128() % QUEUES as u128;
        let queue = self.queues.get(usize::try_from(queue).ok()?)?;
        // These fail only for a closed semaphore, and none is ever closed.
        let place = queue.acquire().await.ok()?;
        Some(ReadPermit { _read: self.reads.acquire().await.ok()?, _place: place })
    }

    fn open(&self) -> MutexGuard<'_, OpenStreams> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.total -= 1;
        decrement(&mut open.teams, &self.team);
    }
}

/// Who has nothing open is forgotten.
fn decrement<K: Eq + Hash>(open: &mut HashMap<K, usize>, of: &K) {
    if let Some(count) = open.get_mut(of) {
        *count -= 1;
        if *count == 0 {
            open.remove(of);
        }
    }
}

/// One event stream of an inbox, until it is dropped.
pub(crate) struct Follower {
    permit: StreamPermit,
    inbox: InboxId,
}

impl Follower {
    fn of(permit: StreamPermit, inbox: InboxId) -> Self {
        *permit.streams.open().followers.entry(inbox).or_default() += 1;
        Self { permit, inbox }
    }

    /// The time in which this stream is to be written to no more than once.
    pub(crate) fn write_interval(&self) -> Duration {
        let open = self.permit.streams.open();
        let streams = open.followers.get(&self.inbox).copied().unwrap_or_default();
        Duration::from_secs(1) / MAX_WRITES_PER_SECOND * u32::try_from(streams).unwrap_or(u32::MAX)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        decrement(&mut self.permit.streams.open().followers, &self.inbox);
    }
}

impl LiveUpdates {
    /// One more event stream of an inbox, within the same bounds.
    pub(crate) fn follower(&self, team: TeamId, inbox: InboxId) -> Result<Follower> {
        Ok(Follower::of(self.stream_permit(team)?, inbox))
    }

    /// One more parked wait or event stream, if the process may hold it and the team may have it.
    pub(crate) fn stream_permit(&self, team: TeamId) -> Result<StreamPermit> {
        self.streams.acquire(team)
    }

    /// From now on: whether mail may be stored that nobody announced.
    pub(crate) fn subscribe_losses(&self) -> watch::Receiver<u64> {
        let mut losses = self.losses.clone();
        losses.mark_unchanged();
        losses
    }

    /// Runs what reads the store for a parked wait or an event stream of an inbox, with a permit: thousands
    /// that follow one inbox must not keep everybody else's reads waiting.
    pub(crate) async fn read_for_stream<T>(
        &self,
        inbox: InboxId,
        reads: impl Future<Output = T>,
    ) -> T {
        let _permit = self.streams.read_permit(inbox).await;
        reads.await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    #[test]
    fn no_team_takes_what_is_for_all() {
        let streams = Streams::new(5, 3);
        let [one, two] = [1, 2].map(|number| TeamId(Uuid::from_u128(number)));
        let ones: Vec<_> = (0..3).map(|_| streams.acquire(one).unwrap()).collect();
        assert!(matches!(streams.acquire(one), Err(Error::TooManyStreams { of_team: true })));
        let twos: Vec<_> = (0..2).map(|_| streams.acquire(two).unwrap()).collect();
        assert!(matches!(streams.acquire(two), Err(Error::TooManyStreams { of_team: false })));
        drop(ones);
        let more = streams.acquire(two).unwrap();
        assert_eq!(streams.open().teams.len(), 1, "who has nothing open is forgotten");
        drop((twos, more));
        let open = streams.open();
        assert_eq!((open.total, open.teams.len()), (0, 0));
    }

    #[test]
    fn who_follows_another_inbox_waits_behind_few() {
        let streams = Streams::new(1, 1);
        let [crowded, other] = [1, 2].map(|number| InboxId(Uuid::from_u128(number)));
        let permits: Vec<_> = (0..READS_PER_QUEUE)
            .map(|_| streams.read_permit(crowded).now_or_never().unwrap())
            .collect();
        let waiting: Vec<_> = (0..1_000)
            .map(|_| {
                let mut permit = Box::pin(streams.read_permit(crowded));
                assert!((&mut permit).now_or_never().is_none());
                permit
            })
            .collect();
        assert!(streams.read_permit(other).now_or_never().is_some());
        drop((permits, waiting));
    }

    #[test]
    fn a_stream_waits_for_as_long_as_there_are_others_of_its_inbox() {
        let streams = Streams::new(5_000, 5_000);
        let team = TeamId(Uuid::nil());
        let [one, two] = [1, 2].map(|number| InboxId(Uuid::from_u128(number)));
        let follow = |inbox| Follower::of(streams.acquire(team).unwrap(), inbox);
        let crowd: Vec<_> = (0..2_000).map(|_| follow(one)).collect();
        let alone = follow(two);
        assert_eq!(crowd[0].write_interval(), Duration::from_millis(500));
        assert_eq!(alone.write_interval(), Duration::from_micros(250));
        drop((crowd, alone));
        assert!(streams.open().followers.is_empty());
    }
}

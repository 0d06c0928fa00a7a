//! The memory that large bodies may take, over all HTTP clients: what is read of the store for an
//! answer, the answer itself until the client has taken it, and what a client sends.
//!
//! Whoever reads nothing holds memory; so each client has a share, and beyond it only waits for
//! itself. What a request has taken it keeps until it is answered, because the answer that is made
//! from a message is about as large as the message.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{Error, Result, metrics};

/// Bytes of one permit, so that counts fit the semaphore.
const UNIT: usize = 1024;
/// How long a request waits for memory.
const ROOM_TIMEOUT: Duration = Duration::from_secs(5);

/// The bound on the memory of all clients. Clones share it.
#[derive(Debug, Clone)]
pub struct AnswerMemory {
    total: Arc<Semaphore>,
    share: u32,
}

/// The bounds of one client: half of the memory, so that another one always finds some, and half of the
/// threads of the CPU pool.
#[derive(Debug, Clone)]
pub struct Share {
    memory: Arc<Semaphore>,
    threads: Arc<Semaphore>,
}

tokio::task_local! {
    static REQUEST: Arc<Request>;
}

/// A request, and the memory that it holds.
struct Request {
    memory: AnswerMemory,
    share: Option<Share>,
    /// Whether memory that is no longer in use stays with the request until it is answered.
    keeps: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Held by the request, and not in use.
    kept: Option<Permits>,
    /// Units in use.
    used: u32,
}

/// Permits for some memory, of all clients and of one.
struct Permits {
    total: OwnedSemaphorePermit,
    share: Option<OwnedSemaphorePermit>,
}

/// Bytes with the permits for their memory.
pub(crate) struct Held {
    bytes: Bytes,
    room: Option<Permits>,
    request: Arc<Request>,
}

impl AnswerMemory {
    /// A bound of so many bytes, at least 2 KiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).clamp(2, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let share = u32::try_from(units / 2).unwrap_or(u32::MAX);
        Self { total: Arc::new(Semaphore::new(units)), share }
    }

    /// The share of a new client.
    #[must_use]
    pub fn share(&self) -> Share {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        Share {
            memory: Arc::new(Semaphore::new(self.share as usize)),
            threads: Arc::new(Semaphore::new((threads / 2).max(1))),
        }
    }

    /// Runs `work`, which handles one request of a client, and counts the bytes that
    /// it reads of the store. `incoming` is what the client is about to send. A request that `keeps`
    /// what it has had is to end soon.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when there was no room for `incoming` within 5 s.
    pub async fn counted<T>(
        &self,
        share: Option<Share>,
        keeps: bool,
        incoming: usize,
        work: impl Future<Output = T>,
    ) -> Result<(T, Answer)> {
        let state = Mutex::default();
        let request = Arc::new(Request { memory: self.clone(), share, keeps, state });
        if incoming > 0 {
            // In a box, so that a request that lasts holds no room for it.
            let room = Box::pin(request.take(self.units(incoming))).await?;
            request.state().kept = Some(room);
        }
        let done = REQUEST.scope(request.clone(), work).await;
        Ok((done, Answer(request)))
    }

    /// Permits for so many bytes; more than a share is counted as a share, as it could never be granted.
    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.share)
    }
}

/// A handled request, whose memory its answer reuses.
pub struct Answer(Arc<Request>);

/// Memory for an answer of a known length.
pub struct Room {
    permits: Option<Permits>,
    request: Arc<Request>,
}

impl Answer {
    /// Runs more work on the same request.
    pub async fn go_on<T>(self, work: impl Future<Output = T>) -> (T, Self) {
        (REQUEST.scope(self.0.clone(), work).await, self)
    }

    /// Reserves memory for an answer of `len` bytes; bytes of the store in it have theirs already.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when there was none within 5 s.
    pub async fn room(self, len: usize) -> Result<Room> {
        let request = self.0;
        let used = request.state().used;
        let needed = request.memory.units(len).saturating_sub(used);
        let permits = if needed > 0 { Some(request.take(needed).await?) } else { None };
        drop(request.state().kept.take());
        Ok(Room { permits, request })
    }
}

impl Room {
    /// Ties the memory to the answer's bytes: it is released with them.
    #[must_use]
    pub fn with(&mut self, bytes: Bytes) -> Bytes {
        match self.permits.take() {
            None => bytes,
            room => Bytes::from_owner(Held { bytes, room, request: self.request.clone() }),
        }
    }
}

/// Reads `len` bytes once there is room for them in the memory of the request that this is part of. A
/// job of the worker is part of none, and bounded otherwise.
pub(crate) async fn read(len: u64, read: impl Future<Output = Result<Bytes>>) -> Result<Bytes> {
    let Some(mut held) = hold(len).await? else { return read.await };
    held.bytes = read.await?;
    Ok(Bytes::from_owner(held))
}

/// Waits for memory for `len` bytes, which is held until the result is dropped. `None` outside of a request.
pub(crate) async fn hold(len: u64) -> Result<Option<Held>> {
    let Ok(request) = REQUEST.try_with(Clone::clone) else { return Ok(None) };
    let units = request.memory.units(usize::try_from(len).unwrap_or(usize::MAX));
    let room = request.take(units).await?;
    request.state().used += units;
    Ok(Some(Held { bytes: Bytes::new(), room: Some(room), request }))
}

/// Waits until fewer threads than its share work for the client of the request that this is part of.
pub(crate) async fn cpu_permit() -> Option<OwnedSemaphorePermit> {
    let share = REQUEST.try_with(|request| request.share.clone()).ok()??;
    share.threads.acquire_owned().await.ok()
}

impl Request {
    /// Takes memory, first of what the request holds.
    async fn take(&self, units: u32) -> Result<Permits> {
        let kept = self.state().kept.take();
        match kept {
            None => self.acquire(units).await,
            Some(mut kept) => {
                let had = kept.units();
                if had > units {
                    let rest = kept.split(had - units);
                    self.state().kept = rest;
                } else if had < units {
                    kept.merge(self.acquire(units - had).await?);
                }
                Ok(kept)
            }
        }
    }

    async fn acquire(&self, units: u32) -> Result<Permits> {
        let acquire = async {
            // First the client's own: whoever waits there takes nothing from others.
            let share = match &self.share {
                Some(share) => Some(share.memory.clone().acquire_many_owned(units).await?),
                None => None,
            };
            let total = self.memory.total.clone().acquire_many_owned(units).await?;
            Ok::<_, tokio::sync::AcquireError>(Permits { total, share })
        };
        if let Ok(Ok(permits)) = timeout(ROOM_TIMEOUT, acquire).await {
            return Ok(permits);
        }
        metrics::http_fault("memory");
        Err(Error::Unavailable)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permits {
    fn units(&self) -> u32 {
        u32::try_from(self.total.num_permits()).unwrap_or(u32::MAX)
    }

    fn split(&mut self, units: u32) -> Option<Self> {
        let units = units as usize;
        let total = self.total.split(units)?;
        Some(Self { total, share: self.share.as_mut().and_then(|share| share.split(units)) })
    }

    fn merge(&mut self, other: Self) {
        self.total.merge(other.total);
        if let (Some(share), Some(other)) = (&mut self.share, other.share) {
            share.merge(other);
        }
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(room) = self.room.take() else { return };
        let mut state = self.request.state();
        state.used = state.used.saturating_sub(room.units());
        if self.request.keeps {
            match &mut state.kept {
                Some(kept) => kept.merge(room),
                kept => *kept = Some(room),
            }
        }
    }
}

#[cfg(test)]
mod tests;

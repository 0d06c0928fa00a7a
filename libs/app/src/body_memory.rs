//! A bound on the memory of large bodies over all HTTP clients: bytes read from the store for an
//! answer, the answer until its client has taken it, and what a client sends.
//!
//! A client that does not read its answers holds memory, so each has a share, and beyond it waits for
//! its own requests only. A request keeps what it has taken until it is answered, because the answer
//! made from a message is about as large as the message.

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
/// Pieces of short work of one client that are told apart.
const SHORT_WORK: usize = 1 << 16;
/// How long a request waits for memory before it fails.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(5);

/// The bound, which all clients share. Clones are the same bound.
#[derive(Debug, Clone)]
pub struct BodyMemory {
    total: Arc<Semaphore>,
    /// Units of one client at most.
    share: u32,
}

/// The share of one client: half of the memory, so that another one always finds some, and half of the
/// threads of the CPU pool.
#[derive(Debug, Clone)]
pub struct ClientShare {
    memory: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    /// Only counted.
    short_work: Arc<Semaphore>,
}

tokio::task_local! {
    static REQUEST: Arc<Request>;
}

/// What becomes of the memory that a request has taken and no longer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryHold {
    /// It stays with the request, which ends soon, for its answer.
    UntilAnswered,
    /// It is released, as the request may last.
    WhileInUse,
}

/// A request, and the memory that it holds.
struct Request {
    memory: BodyMemory,
    share: Option<ClientShare>,
    hold: MemoryHold,
    state: Mutex<RequestMemory>,
}

#[derive(Default)]
struct RequestMemory {
    /// Permits that no bytes use.
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
pub(crate) struct HeldBytes {
    bytes: Bytes,
    permits: Option<Permits>,
    request: Arc<Request>,
}

impl BodyMemory {
    /// A bound of so many bytes, at least 2 KiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).clamp(2, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let share = u32::try_from(units / 2).unwrap_or(u32::MAX);
        Self { total: Arc::new(Semaphore::new(units)), share }
    }

    /// The share of a new client.
    #[must_use]
    pub fn share(&self) -> ClientShare {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        ClientShare {
            memory: Arc::new(Semaphore::new(self.share as usize)),
            threads: Arc::new(Semaphore::new((threads / 2).max(1))),
            short_work: Arc::new(Semaphore::new(SHORT_WORK)),
        }
    }

    /// Runs `work`, which handles one request of a client, and counts the bytes that it reads from the
    /// store. `incoming` is how many bytes the client is about to send. Without a share, only the bound
    /// over all clients holds.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when there was no memory for `incoming` within 5 s.
    pub async fn count_request<T>(
        &self,
        share: Option<ClientShare>,
        hold: MemoryHold,
        incoming: usize,
        work: impl Future<Output = T>,
    ) -> Result<(T, HandledRequest)> {
        let state = Mutex::default();
        let request = Arc::new(Request { memory: self.clone(), share, hold, state });
        if incoming > 0 {
            // In a box, so that this future is not part of one that lasts.
            let permits = Box::pin(request.take(self.units(incoming))).await?;
            request.state().kept = Some(permits);
        }
        let done = REQUEST.scope(request.clone(), work).await;
        Ok((done, HandledRequest(request)))
    }

    /// Permits for so many bytes; more than a share is counted as a share, as it could never be granted.
    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.share)
    }
}

/// A handled request, whose memory its answer reuses.
pub struct HandledRequest(Arc<Request>);

/// Memory reserved for an answer of a known length.
pub struct AnswerReservation {
    permits: Option<Permits>,
    request: Arc<Request>,
}

impl HandledRequest {
    /// Runs more work on the same request.
    pub async fn resume<T>(self, work: impl Future<Output = T>) -> (T, Self) {
        (REQUEST.scope(self.0.clone(), work).await, self)
    }

    /// Reserves memory for an answer of `len` bytes; bytes of the store in it have theirs already.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when there was none within 5 s.
    pub async fn reserve(self, len: usize) -> Result<AnswerReservation> {
        let request = self.0;
        let used = request.state().used;
        let needed = request.memory.units(len).saturating_sub(used);
        let permits = if needed > 0 { Some(request.take(needed).await?) } else { None };
        drop(request.state().kept.take());
        Ok(AnswerReservation { permits, request })
    }
}

impl AnswerReservation {
    /// Ties the memory to the answer's bytes, with which it is released. Only the first call does so.
    #[must_use]
    pub fn attach(&mut self, bytes: Bytes) -> Bytes {
        match self.permits.take() {
            None => bytes,
            permits => {
                Bytes::from_owner(HeldBytes { bytes, permits, request: self.request.clone() })
            }
        }
    }
}

/// Runs `read`, which reads `len` bytes, once the request that it is part of has memory for them. A job
/// of the worker is part of no request, and bounded otherwise.
pub(crate) async fn read(len: u64, read: impl Future<Output = Result<Bytes>>) -> Result<Bytes> {
    let Some(mut held) = hold(len).await? else { return read.await };
    held.bytes = read.await?;
    Ok(Bytes::from_owner(held))
}

/// Waits for memory for `len` bytes, which is held until the result is dropped. `None` outside of a request.
pub(crate) async fn hold(len: u64) -> Result<Option<HeldBytes>> {
    let Ok(request) = REQUEST.try_with(Clone::clone) else { return Ok(None) };
    let units = request.memory.units(usize::try_from(len).unwrap_or(usize::MAX));
    let permits = Some(request.take(units).await?);
    request.state().used += units;
    Ok(Some(HeldBytes { bytes: Bytes::new(), permits, request }))
}

/// Waits until fewer threads than its share work for the client of the request that this is part of.
pub(crate) async fn cpu_permit() -> Option<OwnedSemaphorePermit> {
    share_of_request()?.threads.acquire_owned().await.ok()
}

/// Counts a piece of short work of the client of the request that this is part of, until the permit is dropped.
/// Returns also how many pieces of it were under way before.
pub(crate) fn count_short_work() -> (u32, Option<OwnedSemaphorePermit>) {
    let Some(ClientShare { short_work, .. }) = share_of_request() else { return (0, None) };
    let under_way = SHORT_WORK - short_work.available_permits();
    (u32::try_from(under_way).unwrap_or(u32::MAX), short_work.try_acquire_owned().ok())
}

fn share_of_request() -> Option<ClientShare> {
    REQUEST.try_with(|request| request.share.clone()).ok()?
}

impl Request {
    /// Takes memory: first what the request keeps, then what it lacks.
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
            // The client's share first: who waits for that takes nothing from others.
            let share = match &self.share {
                Some(share) => Some(share.memory.clone().acquire_many_owned(units).await?),
                None => None,
            };
            let total = self.memory.total.clone().acquire_many_owned(units).await?;
            Ok::<_, tokio::sync::AcquireError>(Permits { total, share })
        };
        if let Ok(Ok(permits)) = timeout(MEMORY_TIMEOUT, acquire).await {
            return Ok(permits);
        }
        metrics::http_fault("memory");
        Err(Error::Unavailable)
    }

    fn state(&self) -> MutexGuard<'_, RequestMemory> {
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

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        let Some(permits) = self.permits.take() else { return };
        let mut state = self.request.state();
        state.used = state.used.saturating_sub(permits.units());
        if self.request.hold == MemoryHold::UntilAnswered {
            match &mut state.kept {
                Some(kept) => kept.merge(permits),
                kept => *kept = Some(permits),
            }
        }
    }
}

#[cfg(test)]
mod tests;

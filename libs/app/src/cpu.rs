//! A bounded thread pool for work that keeps a processor busy, such as parsing a large mail.

mod threads;
mod turn_queue;

use std::{num::NonZero, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    time::timeout,
};

use crate::{Error, Result, body_memory, log_throttle::LogThrottle};
use threads::Threads;
use turn_queue::{Turn, TurnQueue};

/// Pieces of work that may wait, for each thread.
const QUEUE_PER_THREAD: usize = 64;
/// Ranks of work that takes a millisecond or so, and of all other.
const SHORT: u32 = 0;
const USUAL: u32 = 1;
/// How long a piece of work waits for a thread.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs a bounded number of pieces of work at a time, and lets a bounded number wait.
///
/// There is a thread for each processor but one, which is left to the async runtime, and these threads
/// have a lower priority than its own. What runs can't be stopped, so each piece has to be
/// bounded by its input: linear in the bytes of one message. Whoever no longer wants the result drops
/// the future; what still waits then never runs.
#[derive(Debug)]
pub struct CpuPool {
    line: Arc<TurnQueue>,
    threads: Threads,
    queue_timeout: Duration,
}

impl CpuPool {
    /// A pool for this machine's processors.
    pub(crate) fn for_machine() -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = processors.saturating_sub(1).max(1);
        Self::new(threads, threads * QUEUE_PER_THREAD, QUEUE_TIMEOUT)
    }

    /// A pool of `threads`, for which `queue` pieces of work may wait, each for up to `queue_timeout`.
    pub(crate) fn new(threads: usize, queue: usize, queue_timeout: Duration) -> Result<Self> {
        Ok(Self {
            line: TurnQueue::new(threads, queue),
            threads: Threads::start(threads).map_err(|error| {
                tracing::error!(%error, "a thread for work beside the reactor did not start");
                Error::Unavailable
            })?,
            queue_timeout,
        })
    }

    /// Runs `work` on a thread that may block. Work for a request waits for its client's other work
    /// first: one client never has all threads, unless there is only one.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] at once when too much waits already, after 20 s when no thread
    /// became free, and when `work` panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.run_ranked(USUAL, work).await
    }

    /// The same for work that takes a millisecond or so, such as a signature: it goes before all other work
    /// that waits, also its own client's, which it keeps waiting no longer than that.
    ///
    /// # Errors
    ///
    /// As [`CpuPool::run`].
    pub async fn run_short<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let turn = self.turn(SHORT, body_memory::short_cpu_permit());
        self.run_after(turn, work).await
    }

    /// The same, after all work of a lower rank that waits. Where too much waits, the work of the highest
    /// rank is refused.
    ///
    /// # Errors
    ///
    /// As [`CpuPool::run`], and [`Error::Unavailable`] later when too much came that goes first.
    pub(crate) async fn run_ranked<T: Send + 'static>(
        &self,
        rank: u32,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.run_after(self.turn(rank, body_memory::cpu_permit()), work).await
    }

    async fn run_after<T: Send + 'static>(
        &self,
        permit: impl Future<Output = Result<CpuPermit>>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let waited = timeout(self.queue_timeout, permit).await;
        let permit = waited.map_err(|_elapsed| overloaded()).flatten()?;
        let (done, result) = oneshot::channel();
        self.threads.run(Box::new(move || {
            let made = work();
            // The thread is free once the work is done, whether somebody waits for the result or not.
            drop(permit);
            drop(done.send(made));
        }))?;
        // It is dropped unsent when the work panics.
        result.await.map_err(|_| Error::Unavailable)
    }

    async fn turn(
        &self,
        rank: u32,
        of_client: impl Future<Output = Option<OwnedSemaphorePermit>>,
    ) -> Result<CpuPermit> {
        let of_client = of_client.await;
        let turn = self.line.turn(rank).await.ok_or_else(overloaded)?;
        Ok(CpuPermit { _of_client: of_client, _turn: turn })
    }
}

/// A share of the client, and a thread, while a piece of work runs.
struct CpuPermit {
    _of_client: Option<OwnedSemaphorePermit>,
    _turn: Turn,
}

fn overloaded() -> Error {
    static LINE: LogThrottle = LogThrottle::new();
    if let Some(left_out) = LINE.due() {
        tracing::warn!(left_out, "too much work waits for a processor");
    }
    Error::Unavailable
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc;

    use futures_util::{
        FutureExt,
        future::{join, join_all},
    };

    use super::*;
    use crate::body_memory::{BodyMemory, ClientShare, MemoryHold};

    const LONG: Duration = Duration::from_hours(1);

    /// Runs `beside` while the only processor is busy.
    async fn while_busy<T>(pool: &CpuPool, beside: impl Future<Output = T>) -> T {
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = oneshot::channel();
        let busy = pool.run(move || {
            start.send(()).unwrap();
            ended.recv().unwrap_err();
        });
        let beside = async {
            started.await.unwrap();
            let result = beside.await;
            drop(end);
            result
        };
        let (busy, result) = join(busy, beside).await;
        busy.unwrap();
        result
    }

    #[tokio::test]
    async fn work_waits_no_longer_than_the_deadline() {
        let pool = CpuPool::new(1, 1, Duration::ZERO).unwrap();
        let refused = while_busy(&pool, pool.run(|| 1)).await;
        assert!(matches!(refused, Err(Error::Unavailable)));
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_waiter_that_leaves_makes_room() {
        let pool = CpuPool::new(1, 1, LONG).unwrap();
        while_busy(&pool, async {
            let mut waiter = Box::pin(pool.run(|| 1));
            assert!((&mut waiter).now_or_never().is_none());
            assert!(matches!(pool.run(|| 2).await, Err(Error::Unavailable)));
            drop(waiter);
            assert!(pool.run(|| 3).now_or_never().is_none());
        })
        .await;
        assert_eq!(pool.run(|| 4).await.unwrap(), 4);
    }

    #[tokio::test]
    async fn short_work_goes_first() {
        let pool = CpuPool::new(1, 2, LONG).unwrap();
        let (tell, told) = mpsc::channel();
        let teller = |name| {
            let tell = tell.clone();
            move || tell.send(name).unwrap()
        };
        let (mut usual, mut short) =
            (Box::pin(pool.run(teller("usual"))), Box::pin(pool.run_short(teller("short"))));
        while_busy(&pool, async {
            assert!((&mut usual).now_or_never().is_none());
            assert!((&mut short).now_or_never().is_none());
        })
        .await;
        let (usual, short) = join(usual, short).await;
        usual.and(short).unwrap();
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["short", "usual"]);
    }

    #[tokio::test]
    async fn short_work_waits_for_none_of_its_clients_long_work() {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = CpuPool::new(processors + 1, 1, LONG).unwrap();
        let client = BodyMemory::new(1 << 20).share();
        let (ends, mut long): (Vec<_>, Vec<_>) = (0..processors)
            .map(|_| {
                let (end, ended) = mpsc::channel::<()>();
                let work = pool.run(move || ended.recv().unwrap_err());
                (end, Box::pin(of_client(&client, work)))
            })
            .unzip();
        for waits in &mut long {
            assert!(waits.now_or_never().is_none());
        }
        assert_eq!(of_client(&client, pool.run_short(|| 1)).await, 1);
        drop(ends);
        join_all(long).await;
    }

    async fn of_client<T>(client: &ClientShare, work: impl Future<Output = Result<T>>) -> T {
        let (memory, share) = (BodyMemory::new(1 << 20), Some(client.clone()));
        let handled = memory.count_request(share, MemoryHold::WhileInUse, 0, work).await;
        handled.unwrap().0.unwrap()
    }

    #[tokio::test]
    async fn work_keeps_its_processor_though_nobody_waits_for_it() {
        let pool = CpuPool::new(1, 1, Duration::ZERO).unwrap();
        let (end, ended) = mpsc::channel::<()>();
        let mut left = Box::pin(pool.run(move || ended.recv().unwrap_err()));
        assert!((&mut left).now_or_never().is_none());
        drop(left);
        assert!(matches!(pool.run(|| 1).await, Err(Error::Unavailable)));
        drop(end);
        while pool.run(|| 1).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_panic_costs_only_its_own_result() {
        let pool = CpuPool::new(1, 0, LONG).unwrap();
        assert!(pool.run(|| assert_eq!(1, 2)).await.is_err());
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }
}

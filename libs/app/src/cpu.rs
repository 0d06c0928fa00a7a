//! Bounded threads for work that keeps a processor busy, such as parsing a large mail.

mod threads;
mod turn_queue;

use std::{num::NonZero, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::timeout};

use crate::{Error, Result, body_memory, log_throttle::LogThrottle};
use threads::Threads;
use turn_queue::{Turn, TurnQueue};

/// Pieces of work that may wait, for each thread.
const QUEUE_PER_THREAD: usize = 64;
/// Threads for work that takes a millisecond or so, and pieces of it that may wait.
const SHORT_THREADS: usize = 1;
const SHORT_QUEUE: usize = 1_024;
/// The rank of all work where nobody goes before anybody else.
const EQUAL: u32 = 0;
/// How long a piece of work waits for a thread.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(20);

/// The threads of a process for work over messages, and one more for work that takes a millisecond or so. That
/// waits for no long work, not even its own client's: many people come from one address, and the signature for one of
/// them must not wait for the large mails of the others.
#[derive(Debug)]
pub struct CpuPool {
    long: WorkQueue,
    short: WorkQueue,
}

impl CpuPool {
    /// A thread for each of this machine's processors but one, which is left to the async runtime.
    pub(crate) fn for_machine() -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = processors.saturating_sub(1).max(1);
        Ok(Self {
            long: WorkQueue::new(threads, threads * QUEUE_PER_THREAD, QUEUE_TIMEOUT)?,
            short: WorkQueue::new(SHORT_THREADS, SHORT_QUEUE, QUEUE_TIMEOUT)?,
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
        self.long.run(EQUAL, work).await
    }

    /// The same for work that takes a millisecond or so, such as a signature. Work goes first whose client has the
    /// least of it under way: one client keeps no other waiting, however much of it there is.
    ///
    /// # Errors
    ///
    /// As [`CpuPool::run`].
    pub async fn run_short<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (rank, count) = body_memory::count_short_work();
        let turn = async { Ok((count, self.short.turn(rank).await?)) };
        self.short.run_after(turn, work).await
    }
}

/// Runs a bounded number of pieces of work at a time, and lets a bounded number wait.
///
/// Its threads have a lower priority than the async runtime's. What runs can't be stopped, so each piece has to be
/// bounded by its input: linear in the bytes of one message. Whoever no longer wants the result drops
/// the future; what still waits then never runs.
#[derive(Debug)]
pub(crate) struct WorkQueue {
    line: Arc<TurnQueue>,
    threads: Threads,
    queue_timeout: Duration,
}

impl WorkQueue {
    /// `threads`, for which `capacity` pieces of work may wait, each for up to `queue_timeout`.
    pub(crate) fn new(threads: usize, capacity: usize, queue_timeout: Duration) -> Result<Self> {
        Ok(Self {
            line: TurnQueue::new(threads, capacity),
            threads: Threads::start(threads).map_err(|error| {
                tracing::error!(%error, "a thread for work beside the reactor did not start");
                Error::Unavailable
            })?,
            queue_timeout,
        })
    }

    /// Runs `work` after what its client has under way here and elsewhere, and after all work of a lower rank that
    /// waits. Where too much waits, the work of the highest rank is refused.
    ///
    /// # Errors
    ///
    /// As [`CpuPool::run`], and [`Error::Unavailable`] later when too much came that goes first.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        rank: u32,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let turn = async {
            let of_client = body_memory::cpu_permit().await;
            Ok((of_client, self.turn(rank).await?))
        };
        self.run_after(turn, work).await
    }

    async fn run_after<P: Send + 'static, T: Send + 'static>(
        &self,
        permit: impl Future<Output = Result<P>>,
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

    async fn turn(&self, rank: u32) -> Result<Turn> {
        self.line.turn(rank).await.ok_or_else(overloaded)
    }
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
    async fn while_busy<T>(pool: &WorkQueue, beside: impl Future<Output = T>) -> T {
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = oneshot::channel();
        let busy = pool.run(EQUAL, move || {
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
        let pool = WorkQueue::new(1, 1, Duration::ZERO).unwrap();
        let refused = while_busy(&pool, pool.run(EQUAL, || 1)).await;
        assert!(matches!(refused, Err(Error::Unavailable)));
        assert_eq!(pool.run(EQUAL, || 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_waiter_that_leaves_makes_room() {
        let pool = WorkQueue::new(1, 1, LONG).unwrap();
        while_busy(&pool, async {
            let mut waiter = Box::pin(pool.run(EQUAL, || 1));
            assert!((&mut waiter).now_or_never().is_none());
            assert!(matches!(pool.run(EQUAL, || 2).await, Err(Error::Unavailable)));
            drop(waiter);
            assert!(pool.run(EQUAL, || 3).now_or_never().is_none());
        })
        .await;
        assert_eq!(pool.run(EQUAL, || 4).await.unwrap(), 4);
    }

    /// A hundred people at one address are signed in while its large mails keep all other threads busy.
    #[tokio::test]
    async fn short_work_waits_for_none_of_its_clients_long_work() {
        let pool = CpuPool::for_machine().unwrap();
        let client = BodyMemory::new(1 << 20).share();
        let (ends, mut long): (Vec<_>, Vec<_>) = (0..8)
            .map(|_| {
                let (end, ended) = mpsc::channel::<()>();
                let work = pool.run(move || ended.recv().unwrap_err());
                (end, Box::pin(of_client(&client, work)))
            })
            .unzip();
        for waits in &mut long {
            assert!(waits.now_or_never().is_none());
        }
        let short = (0..100).map(|number| of_client(&client, pool.run_short(move || number)));
        assert_eq!(join_all(short).await, (0..100).collect::<Vec<_>>());
        drop(ends);
        join_all(long).await;
    }

    #[tokio::test]
    async fn short_work_of_one_client_keeps_no_other_waiting() {
        let pool = CpuPool::for_machine().unwrap();
        let memory = BodyMemory::new(1 << 20);
        let (greedy, modest) = (memory.share(), memory.share());
        let (tell, told) = mpsc::channel();
        let teller = |name| {
            let tell = tell.clone();
            move || tell.send(name).unwrap()
        };
        let (end, ended) = mpsc::channel::<()>();
        let busy = of_client(&greedy, pool.run_short(move || ended.recv().unwrap_err()));
        let mut busy = Box::pin(busy);
        assert!((&mut busy).now_or_never().is_none());
        let of_greedy = (0..100).map(|_| of_client(&greedy, pool.run_short(teller("greedy"))));
        let mut of_greedy = Box::pin(join_all(of_greedy));
        assert!((&mut of_greedy).now_or_never().is_none());
        let mut of_modest = Box::pin(of_client(&modest, pool.run_short(teller("modest"))));
        assert!((&mut of_modest).now_or_never().is_none());
        drop(end);
        join(of_greedy, join(busy, of_modest)).await;
        assert_eq!(told.recv().unwrap(), "modest");
    }

    async fn of_client<T>(client: &ClientShare, work: impl Future<Output = Result<T>>) -> T {
        let (memory, share) = (BodyMemory::new(1 << 20), Some(client.clone()));
        let handled = memory.count_request(share, MemoryHold::WhileInUse, 0, work).await;
        handled.unwrap().0.unwrap()
    }

    #[tokio::test]
    async fn work_keeps_its_processor_though_nobody_waits_for_it() {
        let pool = WorkQueue::new(1, 1, Duration::ZERO).unwrap();
        let (end, ended) = mpsc::channel::<()>();
        let mut left = Box::pin(pool.run(EQUAL, move || ended.recv().unwrap_err()));
        assert!((&mut left).now_or_never().is_none());
        drop(left);
        assert!(matches!(pool.run(EQUAL, || 1).await, Err(Error::Unavailable)));
        drop(end);
        while pool.run(EQUAL, || 1).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_panic_costs_only_its_own_result() {
        let pool = WorkQueue::new(1, 0, LONG).unwrap();
        assert!(pool.run(EQUAL, || assert_eq!(1, 2)).await.is_err());
        assert_eq!(pool.run(EQUAL, || 1).await.unwrap(), 1);
    }
}

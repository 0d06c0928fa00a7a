//! Work that keeps a processor busy, such as reading a large mail, beside the reactor.

use std::{num::NonZero, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{Error, Result};

/// How much work may wait for each processor.
const QUEUE: usize = 64;
/// How long it waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs at most one piece of work for each processor at a time, and lets a bounded number wait.
///
/// What runs can't be stopped, so each piece has to be bounded by its input: linear in the bytes of
/// one message. Whoever no longer wants the result drops the future; what still waits then never
/// runs.
#[derive(Debug)]
pub struct CpuPool {
    /// Places of what runs or waits.
    places: Semaphore,
    /// Processors.
    processors: Arc<Semaphore>,
    patience: Duration,
}

impl CpuPool {
    /// A pool for this machine's processors.
    pub(crate) fn for_machine() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self::new(processors, processors * QUEUE, PATIENCE)
    }

    fn new(processors: usize, queue: usize, patience: Duration) -> Self {
        Self {
            places: Semaphore::new(processors + queue),
            processors: Arc::new(Semaphore::new(processors)),
            patience,
        }
    }

    /// Runs `work` on a thread that may block.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] at once when too much waits already, after 10 s when no processor
    /// became free, and when `work` panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let _place = self.places.try_acquire().map_err(|_| overloaded())?;
        let processor = timeout(self.patience, self.processors.clone().acquire_owned());
        let processor = processor.await.ok().and_then(Result::ok).ok_or_else(overloaded)?;
        let work = tokio::task::spawn_blocking(move || run_on(processor, work));
        work.await.map_err(|error| {
            tracing::error!(%error, "work beside the reactor failed");
            Error::Unavailable
        })
    }
}

/// The processor is given back when the work is over, whether somebody waits for it or not.
fn run_on<T>(_processor: OwnedSemaphorePermit, work: impl FnOnce() -> T) -> T {
    work()
}

fn overloaded() -> Error {
    tracing::warn!("too much work over messages waits for a processor");
    Error::Unavailable
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc;

    use futures_util::{FutureExt, future::join};

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    /// Runs `beside` while the only processor is busy.
    async fn while_busy<T>(pool: &CpuPool, beside: impl Future<Output = T>) -> T {
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = tokio::sync::oneshot::channel();
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
        let pool = CpuPool::new(1, 1, Duration::ZERO);
        let refused = while_busy(&pool, pool.run(|| 1)).await;
        assert!(matches!(refused, Err(Error::Unavailable)));
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_waiter_that_leaves_makes_room() {
        let pool = CpuPool::new(1, 1, LONG);
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
    async fn work_keeps_its_processor_though_nobody_waits_for_it() {
        let pool = CpuPool::new(1, 1, Duration::ZERO);
        let (end, ended) = mpsc::channel::<()>();
        let mut left = Box::pin(pool.run(move || ended.recv().unwrap_err()));
        assert!((&mut left).now_or_never().is_none());
        drop(left);
        assert!(matches!(pool.run(|| 1).await, Err(Error::Unavailable)));
        drop(end);
        while pool.processors.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_panic_costs_only_its_own_result() {
        let pool = CpuPool::new(1, 0, LONG);
        assert!(pool.run(|| assert_eq!(1, 2)).await.is_err());
        assert_eq!(pool.run(|| 1).await.unwrap(), 1);
    }
}

//! Connections that read.
//!
//! A WAL reader never waits for the writer, and a lookup takes some 10 µs, which is less than
//! handing it to another thread costs. So short reads run where they are asked, on connections
//! that only short reads use; anything that may take long runs on the blocking pool, on
//! connections of its own.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, TryLockError,
    atomic::{AtomicUsize, Ordering},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use trapline_store::{PortError, Result};

/// Connections for short reads.
const SHORT_CONNECTIONS: usize = 2;
/// Connections for long reads.
const LONG_CONNECTIONS: usize = 2;

/// The connections for short reads and those for long ones.
pub(crate) struct Readers {
    short: ConnectionPool,
    long: Arc<ConnectionPool>,
    permits: Arc<Semaphore>,
}

struct ConnectionPool {
    connections: Vec<Mutex<Connection>>,
    next: AtomicUsize,
}

impl Readers {
    /// How many connections there are.
    pub(crate) const COUNT: usize = SHORT_CONNECTIONS + LONG_CONNECTIONS;

    pub(crate) fn new(mut connections: Vec<Connection>) -> Self {
        let long = connections.split_off(connections.len().min(SHORT_CONNECTIONS));
        let permits = Arc::new(Semaphore::new(long.len()));
        Self {
            short: ConnectionPool::new(connections),
            long: Arc::new(ConnectionPool::new(long)),
            permits,
        }
    }

    /// Reads a few rows, here and now.
    pub(crate) fn short<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        read(&self.short.any())
    }

    /// Reads as much as it takes, on the blocking pool.
    pub(crate) async fn long<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(PortError::unavailable)?;
        let pool = Arc::clone(&self.long);
        let reading = tokio::task::spawn_blocking(move || {
            let answer = read(&pool.any());
            drop(permit);
            answer
        });
        reading.await.map_err(PortError::unavailable)?
    }
}

impl ConnectionPool {
    fn new(connections: Vec<Connection>) -> Self {
        let connections = connections.into_iter().map(Mutex::new).collect();
        Self { connections, next: AtomicUsize::new(0) }
    }

    /// A connection that is free, or else the first to become so of one in turn.
    fn any(&self) -> MutexGuard<'_, Connection> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let at = |step: usize| &self.connections[next.wrapping_add(step) % self.connections.len()];
        for step in 0..self.connections.len() {
            match at(step).try_lock() {
                Ok(free) => return free,
                Err(TryLockError::Poisoned(free)) => return free.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        at(0).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

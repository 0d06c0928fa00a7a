//! Locks by key, such as a team's or an inbox's id.

use tokio::sync::{Mutex, MutexGuard};
use uuid::Uuid;

/// Locks that keys share, so that their memory is bounded.
const LOCKS: usize = 64;

/// Locks by key. Two keys may share a lock, so whoever holds one must not wait for another.
pub(crate) struct KeyedLocks([Mutex<()>; LOCKS]);

impl KeyedLocks {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }

    /// Waits for the lock of a key.
    pub(crate) async fn lock(&self, key: Uuid) -> MutexGuard<'_, ()> {
        let place = key.as_u128() % (LOCKS as u128);
        self.0[usize::try_from(place).unwrap_or(0)].lock().await
    }
}

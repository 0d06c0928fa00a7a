//! Places with a queue in front of them.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A number of places, given out in the order of arrival.
#[derive(Debug)]
pub(super) struct Gate {
    places: usize,
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Self { places, free: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0) }
    }

    /// A place until the permit is dropped.
    pub(super) async fn pass(&self) -> OwnedSemaphorePermit {
        let _counted = Waiting::at(&self.waiting);
        match Arc::clone(&self.free).acquire_owned().await {
            Ok(place) => place,
            // Only a closed semaphore fails, and these are never closed.
            Err(_) => pending().await,
        }
    }

    /// The same when nobody waits and a place is free.
    pub(super) fn try_pass(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.places
    }

    pub(super) fn taken(&self) -> usize {
        self.places - self.free.available_permits()
    }
}

/// Counts as one who waits until it is dropped.
pub(super) struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    pub(super) fn at(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

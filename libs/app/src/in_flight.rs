//! What this process works on right now: a job that comes twice at once is done once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

/// The ids of the rows that are being worked on. It holds as many as jobs run at once.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashSet<Uuid>>);

/// Holds one row's work until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    in_flight: Arc<InFlight>,
    id: Uuid,
}

impl InFlight {
    /// Takes the work on a row; `None` while somebody else in this process holds it.
    pub(crate) fn take(self: &Arc<Self>, id: Uuid) -> Option<Claim> {
        let free = self.held().insert(id);
        free.then(|| Claim { in_flight: self.clone(), id })
    }

    fn held(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.in_flight.held().remove(&self.id);
    }
}

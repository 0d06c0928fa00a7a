//! What is being worked on in this process: a job that comes twice at once is done once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashSet<Uuid>>);

/// Holds one piece of work until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    claims: Arc<Claims>,
    id: Uuid,
}

impl Claims {
    /// None while somebody else holds it.
    pub(crate) fn take(self: &Arc<Self>, id: Uuid) -> Option<Claim> {
        let free = self.held().insert(id);
        free.then(|| Claim { claims: self.clone(), id })
    }

    fn held(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.held().remove(&self.id);
    }
}

//! The deliveries that are being attempted in this process: a job that comes twice at once calls once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trapline_model::DeliveryId;

#[derive(Debug, Default)]
pub(super) struct Claims(Mutex<HashSet<DeliveryId>>);

/// Holds one delivery until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    claims: Arc<Claims>,
    delivery: DeliveryId,
}

impl Claims {
    pub(super) fn take(self: &Arc<Self>, delivery: DeliveryId) -> Option<Claim> {
        let free = self.held().insert(delivery);
        free.then(|| Claim { claims: self.clone(), delivery })
    }

    fn held(&self) -> MutexGuard<'_, HashSet<DeliveryId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.held().remove(&self.delivery);
    }
}

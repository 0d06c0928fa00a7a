//! A buffer for a body.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::{Tier, hold::Hold};

/// A buffer for a body, and the memory reserved for it.
#[derive(Debug, Default)]
pub struct BodyBuffer {
    bytes: Vec<u8>,
    size: usize,
    reservation: Reservation,
}

impl BodyBuffer {
    pub(super) fn new(size: usize, reservation: Reservation) -> Self {
        Self { bytes: Vec::with_capacity(size), size, reservation }
    }

    /// A buffer that no [`Memory`](super::Memory) accounts for, for sessions driven without a server.
    #[must_use]
    pub fn unaccounted(size: usize) -> Self {
        Self { bytes: Vec::new(), size, reservation: Reservation::default() }
    }

    /// Octets that fit.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Octets held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Octets that still fit.
    #[must_use]
    pub fn free(&self) -> usize {
        self.size - self.bytes.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What may be revoked; `None` for what nothing accounts for.
    #[must_use]
    pub fn hold(&self) -> Option<&Arc<Hold>> {
        self.reservation.0.as_ref().map(|reserved| &reserved.hold)
    }

    /// Appends octets; the caller has seen to it that they fit.
    pub(crate) fn push(&mut self, octets: &[u8]) {
        debug_assert!(self.bytes.len() + octets.len() <= self.size, "a body outgrew its room");
        self.bytes.extend_from_slice(octets);
    }

    /// Moves what `smaller` holds in here, and frees it.
    pub(crate) fn replace(mut self, smaller: Self) -> Self {
        self.push(&smaller.bytes);
        drop(smaller);
        self
    }

    /// The octets, and the reservation that must live as long as they do. The body is complete, so
    /// its memory is no longer revoked.
    #[must_use]
    pub fn into_parts(self) -> (Bytes, Reservation) {
        if let Some(hold) = self.hold() {
            hold.excuse();
        }
        (Bytes::from(self.bytes), self.reservation)
    }
}

/// Memory counted as in use until this is dropped.
#[derive(Debug, Default)]
pub struct Reservation(Option<Reserved>);

#[derive(Debug)]
struct Reserved {
    tier: Arc<Tier>,
    hold: Arc<Hold>,
    id: u64,
    /// Of the client's address, of the inbox, and of all.
    _places: [OwnedSemaphorePermit; 3],
}

impl Reservation {
    pub(super) fn new(tier: &Arc<Tier>, hold: Hold, places: [OwnedSemaphorePermit; 3]) -> Self {
        let hold = Arc::new(hold);
        let id = tier.holds().add(Arc::clone(&hold));
        Self(Some(Reserved { tier: Arc::clone(tier), hold, id, _places: places }))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.tier.holds().remove(self.id);
    }
}

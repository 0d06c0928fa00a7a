//! The memory that mail bodies may take, over all sessions.
//!
//! A body moves through buffers of rising size. Each size has its own share of the bound and its
//! own queue, and a session only ever waits for a larger size than it holds. So whoever holds the
//! largest size waits for nobody, and by induction neither does anyone else for ever: there is no
//! deadlock, and small mails don't queue behind large ones.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;

/// The octets that one permit stands for, so that counts fit the semaphore.
const UNIT: usize = 1024;

/// Sizes below the largest, each with its share of the bound in sixteenths.
const SIZES: [(usize, usize); 4] = [(16 << 10, 1), (128 << 10, 1), (1 << 20, 2), (6 << 20, 4)];

/// Hands out [`Room`] within a bound.
#[derive(Debug)]
pub struct Memory {
    tiers: Vec<Tier>,
}

#[derive(Debug)]
struct Tier {
    size: usize,
    permits: usize,
    free: Arc<Semaphore>,
}

impl Tier {
    fn new(size: usize, octets: usize) -> Self {
        let permits = (octets / UNIT).max(units(size));
        Self { size, permits, free: Arc::new(Semaphore::new(permits)) }
    }

    fn room(&self, permit: Option<OwnedSemaphorePermit>) -> Room {
        let bytes = Vec::with_capacity(self.size);
        Room { bytes, size: self.size, reservation: Reservation { _permit: permit } }
    }
}

fn units(size: usize) -> usize {
    size.div_ceil(UNIT)
}

fn permits(size: usize) -> u32 {
    u32::try_from(units(size)).unwrap_or(u32::MAX)
}

impl Memory {
    /// Shares out `limits.memory`. Sizes whose share can't hold one buffer are left out, and the
    /// largest, one whole mail, gets what remains.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let mut rest = limits.memory;
        let mut tiers = Vec::with_capacity(SIZES.len() + 1);
        for (size, sixteenths) in SIZES {
            let share = limits.memory / 16 * sixteenths;
            if size < limits.message_size && size <= share {
                tiers.push(Tier::new(size, share));
                rest -= share;
            }
        }
        if rest < limits.message_size {
            tiers.clear();
            rest = limits.memory;
        }
        tiers.push(Tier::new(limits.message_size, rest));
        Self { tiers }
    }

    /// Empty room of the next size above `larger_than` octets; waits for its turn. The caller must
    /// hold no room above `larger_than`.
    pub async fn reserve(&self, larger_than: usize) -> Room {
        let tier = self.tier(larger_than);
        let permit = Arc::clone(&tier.free).acquire_many_owned(permits(tier.size)).await;
        // It fails only for a closed semaphore, and these are never closed.
        tier.room(permit.ok())
    }

    /// The same when there's no need to wait.
    #[must_use]
    pub fn try_reserve(&self, larger_than: usize) -> Option<Room> {
        let tier = self.tier(larger_than);
        let permit = Arc::clone(&tier.free).try_acquire_many_owned(permits(tier.size)).ok()?;
        Some(tier.room(Some(permit)))
    }

    /// Octets reserved at this moment.
    #[must_use]
    pub fn reserved(&self) -> usize {
        self.tiers.iter().map(|tier| (tier.permits - tier.free.available_permits()) * UNIT).sum()
    }

    fn tier(&self, larger_than: usize) -> &Tier {
        let last = self.tiers.len() - 1;
        let next = self.tiers.iter().position(|tier| tier.size > larger_than);
        &self.tiers[next.unwrap_or(last)]
    }
}

/// A buffer for a body, and the memory reserved for it.
#[derive(Debug, Default)]
pub struct Room {
    bytes: Vec<u8>,
    size: usize,
    reservation: Reservation,
}

impl Room {
    /// Room that no [`Memory`] accounts for, for sessions driven without a server.
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

    /// The octets, and the reservation that must live as long as they do.
    #[must_use]
    pub fn into_parts(self) -> (Bytes, Reservation) {
        (Bytes::from(self.bytes), self.reservation)
    }
}

/// Memory counted as in use until this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    _permit: Option<OwnedSemaphorePermit>,
}

#[cfg(test)]
mod tests;

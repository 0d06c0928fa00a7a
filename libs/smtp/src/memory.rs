//! The memory that mail bodies may take, over all sessions.
//!
//! A body moves through buffers of rising size, the first of which it gets with its first octet.
//! Each size has its own share of the bound and its own queue. A session takes places in one order:
//! of a size that of its client's address, that of its inbox and that of all, then those of the next
//! size; and while it waits for one it only holds earlier ones. So whoever holds the largest size
//! waits for nobody, and by induction neither does anyone else for ever: there is no deadlock, and
//! small mails don't queue behind large ones.
//!
//! Nor does anyone wait long for a client that takes its time: while others wait, a body that is
//! silent or slow gives up its buffer. One that is complete, or waits itself, keeps it.

use std::{
    net::IpAddr,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::{
    sync::OwnedSemaphorePermit,
    time::{self, Duration, Instant},
};

mod body_buffer;
mod gate;
mod hold;
mod payer;

use self::{
    gate::{Gate, Waiting},
    hold::{Holds, Pace},
    payer::Shares,
};
use crate::Limits;
pub use body_buffer::{BodyBuffer, Reservation};
pub use hold::Hold;
pub use payer::Payers;

/// Sizes below the largest, each with its share of the bound in sixteenths.
const SIZES: [(usize, usize); 4] = [(16 << 10, 1), (128 << 10, 1), (1 << 20, 2), (6 << 20, 4)];

/// Hands out [`BodyBuffer`]s within a bound.
#[derive(Debug)]
pub struct Memory {
    tiers: Vec<Arc<Tier>>,
    shares: Arc<Shares>,
}

/// All buffers of one size.
#[derive(Debug)]
struct Tier {
    index: usize,
    size: usize,
    gate: Gate,
    pace: Pace,
    /// Sessions that wait for a buffer.
    waiting: AtomicUsize,
    holds: Mutex<Holds>,
}

impl Tier {
    fn new(index: usize, size: usize, places: usize, limits: &Limits) -> Arc<Self> {
        let silence = limits.contended_idle;
        let octets = u32::try_from(size).unwrap_or(u32::MAX);
        let rate = u32::try_from(limits.contended_rate.max(1)).unwrap_or(u32::MAX);
        let whole = silence + Duration::from_secs_f64(f64::from(octets) / f64::from(rate));
        Arc::new(Self {
            index,
            size,
            gate: Gate::new(places.max(1)),
            pace: Pace { silence, whole },
            waiting: AtomicUsize::new(0),
            holds: Mutex::default(),
        })
    }

    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gates<'g>(&'g self, payers: &'g Payers) -> [&'g Gate; 3] {
        [payers.address.gate(self.index), payers.inbox.gate(self.index), &self.gate]
    }

    fn buffer(self: &Arc<Self>, payers: &Payers, places: [OwnedSemaphorePermit; 3]) -> BodyBuffer {
        BodyBuffer::new(self.size, Reservation::new(self, Hold::new(payers.clone()), places))
    }

    fn try_places(&self, payers: &Payers) -> Option<[OwnedSemaphorePermit; 3]> {
        let [address, inbox, all] = self.gates(payers);
        Some([address.try_pass()?, inbox.try_pass()?, all.try_pass()?])
    }

    async fn places(&self, payers: &Payers) -> [OwnedSemaphorePermit; 3] {
        let [address, inbox, all] = self.gates(payers);
        [address.pass().await, inbox.pass().await, all.pass().await]
    }

    /// Takes from the slow what somebody waits for, and says when to check again.
    fn revoke_slow(&self) -> Instant {
        let in_the_way = |hold: &Hold| self.gates(&hold.payers).iter().any(|g| g.is_waited_for());
        self.holds().revoke_slow(self.pace, self.waiting.load(Relaxed), in_the_way)
    }
}

impl Memory {
    /// Shares out `limits.memory`. Sizes whose share can't hold one buffer are left out, and the
    /// largest, one whole mail, gets what remains.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let mut rest = limits.memory;
        let mut sizes = Vec::with_capacity(SIZES.len() + 1);
        for (size, sixteenths) in SIZES {
            let places = limits.memory / 16 * sixteenths / size;
            if size < limits.message_size && places > 0 {
                sizes.push((size, places));
                rest -= size * places;
            }
        }
        if rest < limits.message_size {
            sizes.clear();
            rest = limits.memory;
        }
        sizes.push((limits.message_size, (rest / limits.message_size.max(1)).max(1)));
        let share = |places: usize| (places * limits.memory_share / 100).max(1);
        let shares = Shares::new(sizes.iter().map(|(_, places)| share(*places)).collect());
        let tier = |(index, (size, places))| Tier::new(index, size, places, limits);
        Self { tiers: sizes.into_iter().enumerate().map(tier).collect(), shares: Arc::new(shares) }
    }

    /// Whom a body from `address` for `inbox` counts against.
    #[must_use]
    pub fn payers(&self, address: IpAddr, inbox: u128) -> Payers {
        self.shares.payers(address, inbox)
    }

    /// An empty buffer of the next size above `larger_than` octets; waits for its turn. The caller must
    /// hold no buffer above `larger_than`.
    pub async fn reserve(&self, payers: &Payers, larger_than: usize) -> BodyBuffer {
        let tier = self.tier(larger_than);
        let _counted = Waiting::at(&tier.waiting);
        let mut places = pin!(tier.places(payers));
        let mut next_check = Instant::now();
        loop {
            tokio::select! {
                biased;
                places = &mut places => return tier.buffer(payers, places),
                () = time::sleep_until(next_check) => next_check = tier.revoke_slow(),
            }
        }
    }

    /// The same when there's no need to wait.
    #[must_use]
    pub fn try_reserve(&self, payers: &Payers, larger_than: usize) -> Option<BodyBuffer> {
        let tier = self.tier(larger_than);
        let places = tier.try_places(payers)?;
        Some(tier.buffer(payers, places))
    }

    /// Octets reserved at this moment.
    #[must_use]
    pub fn reserved(&self) -> usize {
        self.tiers.iter().map(|tier| tier.gate.taken() * tier.size).sum()
    }

    fn tier(&self, larger_than: usize) -> &Arc<Tier> {
        let last = self.tiers.len() - 1;
        let next = self.tiers.iter().position(|tier| tier.size > larger_than);
        &self.tiers[next.unwrap_or(last)]
    }
}

#[cfg(test)]
mod tests;

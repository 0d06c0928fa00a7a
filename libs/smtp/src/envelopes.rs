//! The memory that lists of recipients may take, over all sessions and for each client.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Limits, network};

/// Octets of a list that are not counted, as a session's buffers are not.
const UNCOUNTED_OCTETS: usize = 4 << 10;
/// Lists may have the memory for messages divided by this, beside it.
const MEMORY_DIVISOR: usize = 8;

/// Counts the octets of lists.
#[derive(Debug)]
pub(crate) struct Envelopes {
    most: usize,
    most_of_address: usize,
    held: Mutex<HeldOctets>,
}

#[derive(Debug, Default)]
struct HeldOctets {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The list of one session.
#[derive(Debug)]
pub(crate) struct CountedEnvelope {
    envelopes: Arc<Envelopes>,
    address: IpAddr,
    counted: usize,
}

impl Envelopes {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let most = limits.memory / MEMORY_DIVISOR;
        let most_of_address = most / 100 * limits.memory_share;
        Arc::new(Self { most, most_of_address, held: Mutex::default() })
    }

    /// An empty list of a client.
    pub(crate) fn envelope(self: &Arc<Self>, address: IpAddr) -> CountedEnvelope {
        CountedEnvelope { envelopes: self.clone(), address: network(address), counted: 0 }
    }

    fn held(&self) -> MutexGuard<'_, HeldOctets> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountedEnvelope {
    /// Counts a list of so many octets instead of what was counted; whether there is room for it. A
    /// shorter one always has.
    pub(crate) fn resize(&mut self, octets: usize) -> bool {
        let counted = octets.saturating_sub(UNCOUNTED_OCTETS);
        if counted == self.counted {
            return true;
        }
        let mut held = self.envelopes.held();
        let of_address = held.by_address.get(&self.address).copied().unwrap_or_default();
        let (all, of_address) =
            (held.all - self.counted + counted, of_address - self.counted + counted);
        let has_room = all <= self.envelopes.most && of_address <= self.envelopes.most_of_address;
        if counted > self.counted && !has_room {
            return false;
        }
        held.all = all;
        if of_address == 0 {
            held.by_address.remove(&self.address);
        } else {
            held.by_address.insert(self.address, of_address);
        }
        drop(held);
        self.counted = counted;
        true
    }
}

impl Drop for CountedEnvelope {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_a_share_and_all_have_the_bound() {
        let limits = Limits { memory: 800_000, memory_share: 50, ..Limits::default() };
        let envelopes = Envelopes::new(&limits);
        let list = |host| envelopes.envelope(IpAddr::from([127, 0, 0, host]));
        let [mut one, mut two, mut same, mut third] = [list(1), list(2), list(1), list(3)];
        assert!(one.resize(UNCOUNTED_OCTETS + 50_000), "a half");
        assert!(
            same.resize(UNCOUNTED_OCTETS) && !same.resize(UNCOUNTED_OCTETS + 1),
            "its own share is taken"
        );
        assert!(two.resize(UNCOUNTED_OCTETS + 40_000) && third.resize(UNCOUNTED_OCTETS + 10_000));
        assert!(
            !third.resize(UNCOUNTED_OCTETS + 10_001) && third.resize(UNCOUNTED_OCTETS + 9_000),
            "all is taken"
        );
        drop((one, third));
        assert!(same.resize(UNCOUNTED_OCTETS + 1));
        drop((same, two));
        let held = envelopes.held();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }
}

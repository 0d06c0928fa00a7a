//! The memory that lists of recipients may take, over all sessions and for each client.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Limits, network};

/// What each session may have without being counted, as its buffers are.
const FREE: usize = 4 << 10;
/// The part of the memory for messages that lists may have beside it.
const PART: usize = 8;

/// Counts the octets of lists.
#[derive(Debug)]
pub(crate) struct Envelopes {
    most: usize,
    most_of_address: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The list of one session.
#[derive(Debug)]
pub(crate) struct Envelope {
    envelopes: Arc<Envelopes>,
    address: IpAddr,
    counted: usize,
}

impl Envelopes {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let most = limits.memory / PART;
        let most_of_address = most / 100 * limits.memory_share;
        Arc::new(Self { most, most_of_address, held: Mutex::default() })
    }

    /// An empty list of a client.
    pub(crate) fn envelope(self: &Arc<Self>, address: IpAddr) -> Envelope {
        Envelope { envelopes: self.clone(), address: network(address), counted: 0 }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Envelope {
    /// Counts a list of so many octets instead of what was counted; whether there is room for it. A
    /// shorter one always has.
    pub(crate) fn resize(&mut self, octets: usize) -> bool {
        let counted = octets.saturating_sub(FREE);
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

impl Drop for Envelope {
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
        assert!(one.resize(FREE + 50_000), "a half");
        assert!(same.resize(FREE) && !same.resize(FREE + 1), "its own share is taken");
        assert!(two.resize(FREE + 40_000) && third.resize(FREE + 10_000));
        assert!(!third.resize(FREE + 10_001) && third.resize(FREE + 9_000), "all is taken");
        drop((one, third));
        assert!(same.resize(FREE + 1));
        drop((same, two));
        let held = envelopes.held();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }
}

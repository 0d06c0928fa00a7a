//! Whom the memory of a body counts against: its client's address and its inbox, each of which may
//! have a part of the memory only.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::gate::Gate;
use crate::network;

/// Whom a body counts against.
#[derive(Debug, Clone)]
pub struct Payers {
    pub(super) address: Arc<Share>,
    pub(super) inbox: Arc<Share>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Payer {
    Address(IpAddr),
    Inbox(u128),
}

/// What one payer may have: places of each size.
#[derive(Debug)]
pub(super) struct Share {
    payer: Payer,
    gates: Vec<Gate>,
    shares: Arc<Shares>,
}

impl Share {
    pub(super) fn gate(&self, tier: usize) -> &Gate {
        &self.gates[tier]
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = self.shares.lock();
        // Another one may have been opened for the same payer since the last user of this one left.
        if open.get(&self.payer).is_some_and(|share| share.strong_count() == 0) {
            open.remove(&self.payer);
        }
    }
}

/// The shares that are in use; none is kept for a payer without mail.
#[derive(Debug)]
pub(super) struct Shares {
    /// A share's places of each size.
    places: Vec<usize>,
    open: Mutex<HashMap<Payer, Weak<Share>>>,
}

impl Shares {
    pub(super) fn new(places: Vec<usize>) -> Self {
        Self { places, open: Mutex::default() }
    }

    pub(super) fn payers(self: &Arc<Self>, address: IpAddr, inbox: u128) -> Payers {
        Payers {
            address: self.share(Payer::Address(network(address))),
            inbox: self.share(Payer::Inbox(inbox)),
        }
    }

    fn share(self: &Arc<Self>, payer: Payer) -> Arc<Share> {
        let mut open = self.lock();
        if let Some(share) = open.get(&payer).and_then(Weak::upgrade) {
            return share;
        }
        let gates = self.places.iter().copied().map(Gate::new).collect();
        let share = Arc::new(Share { payer, gates, shares: Arc::clone(self) });
        open.insert(payer, Arc::downgrade(&share));
        share
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Payer, Weak<Share>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payer_is_forgotten_with_its_last_mail() {
        let shares = Arc::new(Shares::new(vec![1]));
        let address = IpAddr::from([127, 0, 0, 1]);
        let (one, two) = (shares.payers(address, 1), shares.payers(address, 2));
        assert!(Arc::ptr_eq(&one.address, &two.address));
        assert_eq!(shares.lock().len(), 3);
        drop((one, two));
        assert_eq!(shares.lock().len(), 0);
    }
}

//! How many connections are open, in all and from each address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Limits, Refusal, network};

/// Counts open connections.
#[derive(Debug, Default)]
pub(crate) struct AdmissionControl {
    open: Mutex<ConnectionCounts>,
}

#[derive(Debug, Default)]
struct ConnectionCounts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

impl AdmissionControl {
    /// Counts one more connection until the ticket is dropped. Addresses of one IPv6 /64 are one.
    pub(crate) fn admit(
        self: &Arc<Self>,
        address: IpAddr,
        limits: &Limits,
    ) -> Result<ConnectionTicket, Refusal> {
        let address = network(address);
        let mut open = self.lock();
        if open.total >= limits.connections {
            return Err(Refusal::Connections);
        }
        if open.by_address.get(&address).is_some_and(|count| *count >= limits.per_address) {
            return Err(Refusal::PerAddress);
        }
        *open.by_address.entry(address).or_default() += 1;
        open.total += 1;
        Ok(ConnectionTicket { admission: Arc::clone(self), address })
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionCounts> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct ConnectionTicket {
    admission: Arc<AdmissionControl>,
    address: IpAddr,
}

impl Drop for ConnectionTicket {
    fn drop(&mut self) {
        let mut open = self.admission.lock();
        open.total -= 1;
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn bounds_the_total_and_each_address() {
        let admission = Arc::new(AdmissionControl::default());
        let limits = Limits { connections: 3, per_address: 2, ..Limits::default() };
        let (one, two) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let first = admission.admit(one, &limits).unwrap();
        let _second = admission.admit(one, &limits).unwrap();
        assert_eq!(admission.admit(one, &limits).unwrap_err(), Refusal::PerAddress);
        let _third = admission.admit(two, &limits).unwrap();
        assert_eq!(admission.admit(two, &limits).unwrap_err(), Refusal::Connections);
        drop(first);
        assert!(admission.admit(one, &limits).is_ok());
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let admission = Arc::new(AdmissionControl::default());
        let limits = Limits { per_address: 1, ..Limits::default() };
        let [one, same, other] = ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"]
            .map(|text| text.parse().unwrap());
        let _open = admission.admit(one, &limits).unwrap();
        assert_eq!(admission.admit(same, &limits).unwrap_err(), Refusal::PerAddress);
        assert!(admission.admit(other, &limits).is_ok());
    }

    #[test]
    fn forgets_addresses_without_connections() {
        let admission = Arc::new(AdmissionControl::default());
        let address = IpAddr::from([127, 0, 0, 1]);
        drop(admission.admit(address, &Limits::default()).unwrap());
        assert!(admission.lock().by_address.is_empty());
    }
}

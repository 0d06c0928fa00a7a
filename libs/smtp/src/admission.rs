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
    /// Counts one more connection until the ticket is dropped.
    pub(crate) fn admit(
        self: &Arc<Self>,
        address: IpAddr,
        limits: &Limits,
    ) -> Result<ConnectionTicket, Refusal> {
        let mut ticket = self.admit_unknown(limits)?;
        ticket.name(address, limits)?;
        Ok(ticket)
    }

    /// The same for one whose client is not known yet.
    pub(crate) fn admit_unknown(
        self: &Arc<Self>,
        limits: &Limits,
    ) -> Result<ConnectionTicket, Refusal> {
        let mut open = self.lock();
        if open.total >= limits.connections {
            return Err(Refusal::Connections);
        }
        open.total += 1;
        Ok(ConnectionTicket { admission: Arc::clone(self), address: None })
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionCounts> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct ConnectionTicket {
    admission: Arc<AdmissionControl>,
    /// Whose it is, once that is known.
    address: Option<IpAddr>,
}

impl ConnectionTicket {
    /// Counts the connection as one of `address`, too. Addresses of one IPv6 /64 are one.
    pub(crate) fn name(&mut self, address: IpAddr, limits: &Limits) -> Result<(), Refusal> {
        let address = network(address);
        let mut open = self.admission.lock();
        let count = open.by_address.entry(address).or_default();
        if *count >= limits.per_address {
            return Err(Refusal::PerAddress);
        }
        *count += 1;
        drop(open);
        self.address = Some(address);
        Ok(())
    }
}

impl Drop for ConnectionTicket {
    fn drop(&mut self) {
        let mut open = self.admission.lock();
        open.total -= 1;
        let Some(address) = self.address else { return };
        if let Some(count) = open.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&address);
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
    fn counts_a_client_that_is_named_later() {
        let admission = Arc::new(AdmissionControl::default());
        let limits = Limits { connections: 2, per_address: 1, ..Limits::default() };
        let one = IpAddr::from([127, 0, 0, 1]);
        let mut first = admission.admit_unknown(&limits).unwrap();
        let mut second = admission.admit_unknown(&limits).unwrap();
        assert_eq!(admission.admit_unknown(&limits).unwrap_err(), Refusal::Connections);
        first.name(one, &limits).unwrap();
        assert_eq!(second.name(one, &limits).unwrap_err(), Refusal::PerAddress);
        drop(second);
        assert_eq!(admission.admit(one, &limits).unwrap_err(), Refusal::PerAddress);
        drop(first);
        assert!(admission.admit(one, &limits).is_ok());
    }

    #[test]
    fn forgets_addresses_without_connections() {
        let admission = Arc::new(AdmissionControl::default());
        let address = IpAddr::from([127, 0, 0, 1]);
        drop(admission.admit(address, &Limits::default()).unwrap());
        assert!(admission.lock().by_address.is_empty());
    }
}

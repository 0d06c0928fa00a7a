//! Bounds the open connections, in all and from each address, and refuses those beyond.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{net::TcpStream, sync::Semaphore};
use trapline_api::Client;
use trapline_app::{BodyMemory, ClientShare, metrics};
use trapline_smtp::network;
use trapline_worker::outbound::Cidr;

use super::{Limits, forwarded::Peer, refusal};

/// The answer to a connection beyond the bounds.
const REFUSAL: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
    content-type: application/json\r\ncontent-length: 62\r\n\r\n\
    {\"error\":\"Too many connections\",\"code\":\"too_many_connections\"}";
/// Refused connections that get the answer at the same time; any further one is just closed.
const MAX_ANSWERED_REFUSALS: usize = 64;

/// Counts open connections.
pub(super) struct Admission {
    open: Arc<Mutex<OpenConnections>>,
    connections: usize,
    per_address: usize,
    proxies: Arc<[Cidr]>,
    memory: BodyMemory,
    refusal_slots: Arc<Semaphore>,
}

#[derive(Default)]
struct OpenConnections {
    total: usize,
    by_address: HashMap<IpAddr, (usize, ClientShare)>,
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Connections,
    PerAddress,
}

impl Refusal {
    /// A word for the metric.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connections => "refused_connections",
            Self::PerAddress => "refused_per_address",
        }
    }
}

impl Admission {
    pub(super) fn new(limits: &Limits, memory: BodyMemory) -> Self {
        Self {
            open: Arc::default(),
            connections: limits.connections,
            per_address: limits.per_address,
            proxies: limits.proxy_from.clone().unwrap_or_default().into(),
            memory,
            refusal_slots: Arc::new(Semaphore::new(MAX_ANSWERED_REFUSALS)),
        }
    }

    /// Counts one more connection until the ticket is dropped.
    pub(super) fn admit(&self, peer: IpAddr) -> Result<Ticket, Refusal> {
        let address = network(peer);
        let mut open = lock(&self.open);
        if open.total >= self.connections {
            return Err(Refusal::Connections);
        }
        let of_address = open.by_address.entry(address);
        let (count, share) = of_address.or_insert_with(|| (0, self.memory.share()));
        if *count >= self.per_address {
            return Err(Refusal::PerAddress);
        }
        *count += 1;
        let client = Client { address, share: share.clone() };
        open.total += 1;
        metrics::http_connection_opened();
        let peer = Peer::new(client, peer, &self.proxies);
        Ok(Ticket { open: self.open.clone(), peer })
    }

    /// Answers 503 and closes.
    pub(super) fn refuse(&self, stream: TcpStream) {
        let Ok(permit) = self.refusal_slots.clone().try_acquire_owned() else { return };
        tokio::spawn(async move {
            refusal::answer(stream, REFUSAL).await;
            drop(permit);
        });
    }
}

/// One open connection.
pub(super) struct Ticket {
    open: Arc<Mutex<OpenConnections>>,
    peer: Peer,
}

impl Ticket {
    pub(super) fn peer(&self) -> Peer {
        self.peer.clone()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        metrics::http_connection_closed();
        let mut open = lock(&self.open);
        open.total -= 1;
        if let Some((count, _)) = open.by_address.get_mut(&self.peer.client.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.peer.client.address);
            }
        }
    }
}

fn lock(open: &Mutex<OpenConnections>) -> MutexGuard<'_, OpenConnections> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, per_address: usize) -> Admission {
        let limits = Limits { connections, per_address, ..Limits::default() };
        Admission::new(&limits, BodyMemory::new(1 << 20))
    }

    #[test]
    fn bounds_the_total_and_each_network() {
        let admission = admission(3, 2);
        let address = |text: &str| text.parse::<IpAddr>().unwrap_or(IpAddr::from([0; 4]));
        let one = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8::2"].map(address);
        let first = admission.admit(one[0]);
        let second = admission.admit(one[1]);
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(admission.admit(one[2]).err(), Some(Refusal::PerAddress));
        let third = admission.admit(address("::ffff:127.0.0.1"));
        assert!(third.is_ok());
        assert_eq!(admission.admit(address("127.0.0.1")).err(), Some(Refusal::Connections));
        drop(first);
        assert!(admission.admit(address("127.0.0.1")).is_ok());
        drop((second, third));
        assert!(lock(&admission.open).by_address.is_empty());
    }

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        refusal::assert_length(REFUSAL);
    }
}

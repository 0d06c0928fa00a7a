//! The PROXY protocol, versions 1 and 2 (haproxy.org/download/3.0/doc/proxy-protocol.txt): a load balancer
//! says in front of everything else who the client is.

mod header;

use std::{net::IpAddr, time::Duration};

use ipnet::IpNet;
use tokio::{net::TcpStream, time::timeout};

use crate::ProxyFault;

/// How long the header may take from the connection on.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// Who may say who a client is. With it every connection has to begin with a header.
#[derive(Debug, Clone)]
pub struct ProxyProtocol {
    /// Where the load balancers are.
    pub from: Vec<IpNet>,
}

/// Whom a header is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderSubject {
    /// The client behind the load balancer.
    Client(IpAddr),
    /// The load balancer itself, as in its health checks.
    Sender,
}

impl ProxyProtocol {
    /// Reads the header of a connection from `peer`, and nothing after it. Returns the client's address.
    /// A process may have a session with itself, as the sender.
    pub(crate) async fn client(
        &self,
        stream: &mut TcpStream,
        peer: IpAddr,
    ) -> Result<IpAddr, ProxyFault> {
        let is_trusted = self.from.iter().any(|range| range.contains(&peer));
        let is_itself = stream.local_addr().is_ok_and(|own| own.ip().to_canonical() == peer);
        if !is_trusted && !is_itself {
            return Err(ProxyFault::Untrusted);
        }
        let read = timeout(HEADER_TIMEOUT, header::read(stream)).await;
        match read.map_err(|_| ProxyFault::Timeout)?.map_err(|_| ProxyFault::NoHeader)? {
            HeaderSubject::Sender => Ok(peer),
            HeaderSubject::Client(client) if is_trusted => Ok(client.to_canonical()),
            HeaderSubject::Client(_) => Err(ProxyFault::Untrusted),
        }
    }
}

#[cfg(test)]
mod tests;

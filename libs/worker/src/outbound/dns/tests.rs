//! A name server that answers something else every time it is asked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hickory_resolver::config::ConnectionConfig;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, UdpSocket},
};
use url::Url;

use super::*;
use crate::outbound::{Client, Guard, GuardOptions, OutboundFailure};

const A: u16 = 1;
const DEADLINE: Duration = Duration::from_mins(1);

/// The names and types that were asked for, in their order.
type Asked = Arc<Mutex<Vec<(String, u16)>>>;

/// Answers the n-th question for an A record with the n-th address (the last one for good), and every
/// other question with nothing.
async fn name_server(addresses: Vec<Ipv4Addr>) -> (SocketAddr, Asked) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (address, asked) = (socket.local_addr().unwrap(), Asked::default());
    let seen = asked.clone();
    tokio::spawn(async move {
        let (mut packet, mut answered) = ([0; 512], 0);
        loop {
            let (_, from) = socket.recv_from(&mut packet).await.unwrap();
            let (name, kind, end) = question(&packet);
            let answer = (kind == A).then(|| addresses[answered.min(addresses.len() - 1)]);
            answered += usize::from(answer.is_some());
            seen.lock().unwrap().push((name.to_lowercase(), kind));
            socket.send_to(&reply(&packet[..end], answer), from).await.unwrap();
        }
    });
    (address, asked)
}

fn question(packet: &[u8]) -> (String, u16, usize) {
    let (mut name, mut at) = (String::new(), 12);
    while packet[at] != 0 {
        let end = at + 1 + usize::from(packet[at]);
        name.push_str(std::str::from_utf8(&packet[at + 1..end]).unwrap());
        name.push('.');
        at = end;
    }
    (name, u16::from_be_bytes([packet[at + 1], packet[at + 2]]), at + 5)
}

/// The question again, with at most one A record that may not be kept (RFC 1035, section 4.1).
fn reply(question: &[u8], answer: Option<Ipv4Addr>) -> Vec<u8> {
    let mut reply = question.to_vec();
    reply[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(answer.is_some()), 0, 0, 0, 0]);
    if let Some(address) = answer {
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        reply.extend(address.octets());
    }
    reply
}

fn asking(server: SocketAddr) -> Dns {
    let mut udp = ConnectionConfig::udp();
    udp.port = server.port();
    let mut name_server = NameServerConfig::udp(server.ip());
    name_server.connections = vec![udp];
    // A search domain that must not be tried.
    let search = vec!["corp.example.".parse().unwrap()];
    let config = ResolverConfig::from_parts(None, search, vec![name_server]);
    Dns::with_config(config, ResolverOpts::default()).unwrap()
}

/// Accepts every POST and closes the connection; counts the connections.
async fn receiver() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::<AtomicUsize>::default());
    let connections = count.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            connections.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await.unwrap();
            let answer = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
            stream.write_all(answer).await.unwrap();
        }
    });
    (port, count)
}

#[tokio::test]
async fn a_name_that_moves_is_asked_for_once_per_connection_and_refused_once_it_points_inside() {
    let (inside, outside) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::LOCALHOST);
    let (server, asked) = name_server(vec![outside, inside]).await;
    let (port, connections) = receiver().await;
    let allow = vec!["127.0.0.1/32".parse().unwrap()];
    let options = GuardOptions { allow, ..<_>::default() };
    let guard = Guard::with_resolver(options, Arc::new(asking(server)));
    let client = Client::new(guard, &[]).unwrap();
    let url = Url::parse(&format!("http://hook.example.com:{port}/")).unwrap();

    let first = client.post(&url, &[], Bytes::new(), DEADLINE).await;
    assert_eq!(first.status(), Some(204), "{first:?}");
    let mut questions = asked.lock().unwrap().clone();
    questions.sort();
    let name = "hook.example.com.".to_owned();
    assert_eq!(questions, [(name.clone(), A), (name, 28)]);

    let second = client.post(&url, &[], Bytes::new(), DEADLINE).await;
    assert_eq!(second.outcome, Err(OutboundFailure::AddressNotAllowed));
    assert_eq!(asked.lock().unwrap().len(), 4);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_server_that_knows_nothing_is_a_failure_that_passes() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let server = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut packet = [0; 512];
        loop {
            let (_, from) = socket.recv_from(&mut packet).await.unwrap();
            let end = question(&packet).2;
            let mut reply = reply(&packet[..end], None);
            // NXDOMAIN.
            reply[3] = 0x83;
            socket.send_to(&reply, from).await.unwrap();
        }
    });
    let guard = Guard::with_resolver(GuardOptions::default(), Arc::new(asking(server)));
    let url = Url::parse("http://nowhere.example.com/").unwrap();
    let failure = guard.resolve(&url).await.unwrap_err();
    assert_eq!((failure, failure.is_final()), (OutboundFailure::DnsError, false));
}

/// Container names may have underscores.
#[tokio::test]
async fn a_name_with_an_underscore_is_asked_for() {
    let (server, asked) = name_server(vec![Ipv4Addr::new(10, 0, 0, 7); 2]).await;
    let options = GuardOptions { allow_private: true, ..<_>::default() };
    let guard = Guard::with_resolver(options, Arc::new(asking(server)));
    for host in ["my_service", "_hidden.my_app.example.com"] {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let found = guard.resolve(&url).await.unwrap();
        assert_eq!(found, ["10.0.0.7:80".parse().unwrap()], "{host}");
        assert!(asked.lock().unwrap().iter().any(|(name, _)| *name == format!("{host}.")));
    }
}

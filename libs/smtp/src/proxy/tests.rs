#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;

const CLIENT: &str = "PROXY TCP4 203.0.113.7 192.0.2.1 40000 25\r\n";
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// A header of the second version.
fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [SIGNATURE, &[0x20 | command, family], &length, rest].concat()
}

fn ipv4() -> Vec<u8> {
    [&[203, 0, 113, 7, 192, 0, 2, 1][..], &[156, 64, 0, 25]].concat()
}

/// What is made of a connection from this machine on which these pieces come; the client then closes its
/// end if it `ends`. Returns what is left on it too.
async fn client_of(
    from: &str,
    pieces: &[&[u8]],
    ends: bool,
) -> (Result<IpAddr, ProxyFault>, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let proxy = ProxyProtocol { from: vec![from.parse().unwrap()] };
    let send = async {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.set_nodelay(true).unwrap();
        for piece in pieces {
            // The server may have had enough.
            drop(client.write_all(piece).await);
            tokio::task::yield_now().await;
        }
        if ends {
            drop(client.shutdown().await);
        }
        client
    };
    let receive = async {
        let (mut stream, peer) = listener.accept().await.unwrap();
        let found = proxy.client(&mut stream, peer.ip()).await;
        (found, stream)
    };
    let ((found, mut stream), client) = tokio::join!(receive, send);
    drop(client);
    let mut left = Vec::new();
    // Unread input of the other side resets the connection.
    drop(stream.read_to_end(&mut left).await);
    (found, left)
}

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[tokio::test]
async fn a_header_names_the_client_and_what_follows_is_the_clients() {
    let ipv6: IpAddr = "2001:db8::7".parse().unwrap();
    let octets = "2001:db8::7".parse::<Ipv6Addr>().unwrap().octets();
    let of_ipv6 = [&octets[..], &[0; 16], &[156, 64, 0, 25]].concat();
    let extras = [&ipv4()[..], &[0x04, 0x00, 0x03, 1, 2, 3]].concat();
    let ipv4_client: IpAddr = [203, 0, 113, 7].into();
    let cases: [(Vec<u8>, IpAddr); 10] = [
        (CLIENT.into(), ipv4_client),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 40000 25\r\n".to_vec(), ipv6),
        (b"PROXY UNKNOWN\r\n".to_vec(), LOCALHOST),
        (b"PROXY UNKNOWN 203.0.113.7 192.0.2.1 1 2\r\n".to_vec(), LOCALHOST),
        (binary(1, 0x11, &ipv4()), ipv4_client),
        (binary(1, 0x11, &extras), ipv4_client),
        (binary(1, 0x21, &of_ipv6), ipv6),
        (binary(1, 0x31, &[b'x'; 216]), LOCALHOST),
        (binary(0, 0x00, b""), LOCALHOST),
        (binary(0, 0x11, &ipv4()), LOCALHOST),
    ];
    for (header, wanted) in cases {
        let whole = [&header[..], b"EHLO a\r\n"].concat();
        let (found, left) = client_of("127.0.0.0/8", &[&whole], true).await;
        assert_eq!((found, &left[..]), (Ok(wanted), &b"EHLO a\r\n"[..]), "{header:?}");
        let pieces: Vec<_> = whole.chunks(1).collect();
        let (found, left) = client_of("127.0.0.0/8", &pieces, true).await;
        assert_eq!((found, &left[..]), (Ok(wanted), &b"EHLO a\r\n"[..]), "{header:?} in octets");
    }
}

#[tokio::test]
async fn what_is_no_header_is_refused_at_once() {
    let cut = binary(1, 0x11, &ipv4());
    let too_long = binary(1, 0x11, &[&ipv4()[..], &[0; 509]].concat());
    let no_line_end = "PROXY TCP4 ".to_owned() + &"1".repeat(200);
    let cases: [&[u8]; 14] = [
        b"EHLO client.test\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PROXY TCP4 203.0.113.7 192.0.2.1 40000 25\n",
        b"PROXY TCP4 203.0.113.700 192.0.2.1 40000 25\r\n",
        b"PROXY TCP4 2001:db8::7 192.0.2.1 40000 25\r\n",
        b"PROXY TCP4 203.0.113.7 192.0.2.1 99999 25\r\n",
        b"PROXY\r\n",
        b"\r\n\r\n\0\r\nQUIP\nxxxx",
        &binary(2, 0x11, &ipv4()),
        &binary(1, 0x11, &ipv4()[..8]),
        &binary(1, 0x41, &ipv4()),
        &too_long,
        no_line_end.as_bytes(),
        &[SIGNATURE, &[0x31, 0x11, 0, 12], &ipv4()].concat(),
    ];
    for case in cases {
        let (found, _) = client_of("127.0.0.0/8", &[case], false).await;
        assert_eq!(found, Err(ProxyFault::NoHeader), "{:?}", case.escape_ascii().to_string());
    }
    // Cut off, at every length.
    for header in [CLIENT.as_bytes(), &cut] {
        for length in 0..header.len() {
            let (found, _) = client_of("127.0.0.0/8", &[&header[..length]], true).await;
            assert_eq!(found, Err(ProxyFault::NoHeader), "{length}");
        }
    }
}

#[tokio::test]
async fn a_header_of_somebody_else_is_not_believed() {
    let (found, _) = client_of("192.0.2.0/24", &[CLIENT.as_bytes()], false).await;
    assert_eq!(found, Err(ProxyFault::Untrusted), "this machine is nobody's load balancer");
    let (found, _) = client_of("192.0.2.0/24", &[b"PROXY UNKNOWN\r\n"], false).await;
    assert_eq!(found, Ok(LOCALHOST), "but may have a session as itself");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let proxy = ProxyProtocol { from: vec!["192.0.2.0/24".parse().unwrap()] };
    let stranger = proxy.client(&mut stream, [198, 51, 100, 1].into()).await;
    assert_eq!(stranger, Err(ProxyFault::Untrusted), "nothing of it was read");
}

#[tokio::test(start_paused = true)]
async fn a_header_that_never_ends_is_waited_for_in_vain() {
    for begin in [&b""[..], b"P", b"PROXY TCP4 ", b"\r\n\r\n\0", &binary(1, 0x11, &ipv4())[..20]] {
        let (found, _) = client_of("127.0.0.0/8", &[begin], false).await;
        assert_eq!(found, Err(ProxyFault::Timeout), "{begin:?}");
    }
}

//! Reads a header to its last octet: what follows is the client's, and TLS may take the connection over.

use std::io;

use ppp::{HeaderResult, v1, v2};
use tokio::{io::AsyncReadExt as _, net::TcpStream};

use super::HeaderSubject;

/// Octets of a header of either version: the fixed part of the second, with the longest addresses (those
/// of Unix sockets) and room for what load balancers add.
const MAX_HEADER: usize = 536;
/// Octets of a header of the first version, the line end included.
const MAX_LINE: usize = 107;
/// Octets of the second version before what its length counts.
const FIXED: usize = 16;

/// Reads a header.
///
/// # Errors
///
/// When what comes is none, is too long, or ends before it is whole.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<HeaderSubject> {
    let mut header = [0; MAX_HEADER];
    stream.read_exact(&mut header[..1]).await?;
    let length = match header[0] {
        b'P' => line(stream, &mut header).await?,
        b'\r' => binary(stream, &mut header).await?,
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    parse(&header[..length])
}

/// The first version, whose first octet is there: one line.
async fn line(stream: &mut TcpStream, header: &mut [u8; MAX_HEADER]) -> io::Result<usize> {
    let mut length = 1;
    while header[length - 1] != b'\n' {
        // Only looked at: what is behind the line stays where it is.
        let rest = &mut header[length..MAX_LINE];
        let seen = stream.peek(rest).await?;
        let taken = rest[..seen].iter().position(|it| *it == b'\n').map_or(seen, |end| end + 1);
        if taken == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        length += stream.read_exact(&mut rest[..taken]).await?;
    }
    Ok(length)
}

/// The second version, whose first octet is there: it says its length.
async fn binary(stream: &mut TcpStream, header: &mut [u8; MAX_HEADER]) -> io::Result<usize> {
    let signature = v2::PROTOCOL_PREFIX.len();
    stream.read_exact(&mut header[1..signature]).await?;
    if header[..signature] != *v2::PROTOCOL_PREFIX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.read_exact(&mut header[signature..FIXED]).await?;
    let rest = u16::from_be_bytes([header[FIXED - 2], header[FIXED - 1]]);
    let length = FIXED + usize::from(rest);
    let rest = header.get_mut(FIXED..length).ok_or(io::ErrorKind::InvalidData)?;
    stream.read_exact(rest).await?;
    Ok(length)
}

fn parse(header: &[u8]) -> io::Result<HeaderSubject> {
    match HeaderResult::parse(header) {
        HeaderResult::V1(Ok(header)) => Ok(match header.addresses {
            v1::Addresses::Tcp4(addresses) => {
                HeaderSubject::Client(addresses.source_address.into())
            }
            v1::Addresses::Tcp6(addresses) => {
                HeaderSubject::Client(addresses.source_address.into())
            }
            v1::Addresses::Unknown => HeaderSubject::Sender,
        }),
        HeaderResult::V2(Ok(header)) => Ok(match (header.command, header.addresses) {
            (v2::Command::Local, _) | (_, v2::Addresses::Unix(_) | v2::Addresses::Unspecified) => {
                HeaderSubject::Sender
            }
            (_, v2::Addresses::IPv4(addresses)) => {
                HeaderSubject::Client(addresses.source_address.into())
            }
            (_, v2::Addresses::IPv6(addresses)) => {
                HeaderSubject::Client(addresses.source_address.into())
            }
        }),
        HeaderResult::V1(Err(_)) | HeaderResult::V2(Err(_)) => {
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    proptest! {
        #[test]
        fn no_octets_bring_the_parser_down(
            octets in vec(any::<u8>(), 0..MAX_HEADER),
            words in vec(select(&b"TCP46UNKOW 0123456789.:af\r\n"[..]), 0..MAX_LINE),
        ) {
            for begin in [&b""[..], b"PROXY", b"PROXY TCP4 ", b"PROXY TCP6 ", v2::PROTOCOL_PREFIX] {
                drop(parse(&[begin, &octets].concat()));
                drop(parse(&[begin, &words].concat()));
            }
            for command in 0x20..0x22 {
                let length = u16::try_from(octets.len()).unwrap_or_default().to_be_bytes();
                for family in [0x00, 0x11, 0x12, 0x21, 0x31] {
                    let fixed = [command, family, length[0], length[1]];
                    drop(parse(&[v2::PROTOCOL_PREFIX, &fixed, &octets].concat()));
                }
            }
        }
    }
}

//! Bodies that claim to hold more than they are: compressed runs, and what is nested without end.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

/// Bytes that a bomb inflates to: more than any provider takes.
const INFLATED: usize = 64 << 20;
/// Levels of what is nested.
const LEVELS: usize = 100_000;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Into memory, it cannot fail.
    let _infallible = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Compressed bodies: blanks, zeros, lists in lists, hashes in hashes, parameters in parameters, and a bomb in a bomb.
pub(crate) fn bombs() -> Vec<Vec<u8>> {
    let blanks = gzip(&vec![b' '; INFLATED]);
    let nested = [&b"["[..], b"{\"a\":", b"a[b]", b"[a]", b"a=1&"].map(|unit| unit.repeat(LEVELS));
    let inner = gzip(&blanks);
    let mut bombs: Vec<_> = nested.iter().map(|body| gzip(body)).collect();
    bombs.extend([blanks, inner, gzip(&vec![0; INFLATED])]);
    bombs
}

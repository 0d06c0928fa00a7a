use proptest::prelude::*;

use super::*;

/// The same, one octet at a time and in the plainest way.
fn oracle(input: &[u8]) -> (Vec<u8>, Option<usize>) {
    let mut seen = b"\r\n".to_vec();
    for (at, octet) in input.iter().enumerate() {
        seen.push(*octet);
        if seen.ends_with(b"\r\n.\r\n") {
            seen.truncate(seen.len() - 3);
            return (unstuff(&seen), Some(at + 1));
        }
    }
    (unstuff(&seen), None)
}

/// Drops a dot after each CRLF, and the CRLF that the oracle put in front.
fn unstuff(seen: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, octet) in seen.iter().enumerate() {
        let stuffed = *octet == b'.' && seen[..at].ends_with(b"\r\n");
        if !stuffed && at >= 2 {
            text.push(*octet);
        }
    }
    text
}

fn read(pieces: &[&[u8]]) -> (Vec<u8>, Option<usize>) {
    let (mut reader, mut text, mut before) = (DotReader::default(), Vec::new(), 0);
    for piece in pieces {
        let (taken, ended) = reader.read(piece, |span| text.extend_from_slice(span));
        before += taken;
        if ended {
            return (text, Some(before));
        }
        assert_eq!(taken, piece.len(), "all of it is taken before the end");
    }
    (text, None)
}

#[test]
fn ends_only_at_crlf_dot_crlf() {
    for (input, text, end) in [
        (&b".\r\n"[..], &b""[..], Some(3)),
        (b"a\r\n.\r\nQUIT\r\n", b"a\r\n", Some(6)),
        (b"a\n.\nb\r\n.\r\n", b"a\n.\nb\r\n", Some(10)),
        (b"a\n.\r\nb\r\n.\r\n", b"a\n.\r\nb\r\n", Some(11)),
        (b"a\r.\rb\r\n.\r\n", b"a\r.\rb\r\n", Some(10)),
        (b"a\r\n.\nb\r\n.\r\n", b"a\r\n\nb\r\n", Some(11)),
        (b"a\r\n.\rb\r\n.\r\n", b"a\r\n\rb\r\n", Some(11)),
        (b"a\r\n.\r\r\n.\r\n", b"a\r\n\r\r\n", Some(10)),
        (b"..\r\n...\r\n.\r\n", b".\r\n..\r\n", Some(12)),
        (b".a\r\n.b\r\n\r\n..\r\n.\r\n", b"a\r\nb\r\n\r\n.\r\n", Some(17)),
        (b"\r\r\n.\r\n", b"\r\r\n", Some(6)),
        (b"a\r\n.", b"a\r\n", None),
    ] {
        let shown = String::from_utf8_lossy(input);
        assert_eq!(read(&[input]), (text.to_vec(), end), "{shown:?}");
        assert_eq!(oracle(input), (text.to_vec(), end), "{shown:?} by the oracle");
    }
}

proptest! {
    #[test]
    fn agrees_with_the_oracle_however_it_is_split(
        input in prop::collection::vec(prop::sample::select(b"\r\n.a".to_vec()), 0..40),
        cuts in prop::collection::vec(0_usize..40, 0..6),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&input[start..cut]);
            start = cut;
        }
        pieces.push(&input[start..]);
        let (text, end) = read(&pieces);
        let (expected, expected_end) = oracle(&input);
        prop_assert_eq!(end, expected_end);
        // Without an end, the reader may hold a CR back that the oracle shows.
        let held = if end.is_none() && expected.len() > text.len() { &b"\r"[..] } else { b"" };
        prop_assert_eq!([text.as_slice(), held].concat(), expected);
    }
}

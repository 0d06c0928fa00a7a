//! UTF-7 (RFC 2152).

/// Decodes UTF-7; bytes outside ASCII are taken as windows-1252.
pub(crate) fn decode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(plus) = memchr::memchr(b'+', rest) {
        direct(&rest[..plus], &mut out);
        let shifted = &rest[plus + 1..];
        let end = shifted.iter().position(|byte| !is_base64(*byte)).unwrap_or(shifted.len());
        rest = &shifted[end..];
        // A minus ends the shift and belongs to it.
        let minus = rest.first() == Some(&b'-');
        if end == 0 {
            out.push('+');
        } else {
            shift(&shifted[..end], &mut out);
        }
        if minus {
            rest = &rest[1..];
        }
    }
    direct(rest, &mut out);
    out
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn direct(bytes: &[u8], out: &mut String) {
    out.push_str(&encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0);
}

fn shift(encoded: &[u8], out: &mut String) {
    let bytes = crate::transfer::base64(encoded);
    let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    out.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

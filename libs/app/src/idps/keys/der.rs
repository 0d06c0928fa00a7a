//! Reads the two numbers of an RSA public key.

/// Modulus and exponent, big-endian without leading zeros, of an `RSAPublicKey` (RFC 8017, appendix
/// A.1.1) in DER; `None` when it is something else.
pub(super) fn rsa_public_key(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (sequence, []) = element(0x30, der)? else { return None };
    let (modulus, rest) = element(0x02, sequence)?;
    let (exponent, []) = element(0x02, rest)? else { return None };
    Some((without_zeros(modulus), without_zeros(exponent)))
}

/// The contents of an element with this tag, and what comes after it (X.690, section 8.1).
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = der.split_first_chunk::<2>()?;
    if head[0] != tag {
        return None;
    }
    let (length, rest) = match head[1] {
        short @ 0..=0x7f => (usize::from(short), rest),
        0x81 => rest.split_first().map(|(length, rest)| (usize::from(*length), rest))?,
        0x82 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_public_key_is_read() {
        let whole = [0x30, 7, 2, 2, 0, 0x81, 2, 1, 3];
        assert_eq!(rsa_public_key(&whole), Some((&[0x81][..], &[3][..])));
        let longer = [0x30, 0x81, 7, 2, 2, 0, 0x81, 2, 1, 3];
        assert_eq!(rsa_public_key(&longer), Some((&[0x81][..], &[3][..])));
        for end in 0..whole.len() {
            assert_eq!(rsa_public_key(&whole[..end]), None, "{end}");
        }
        assert_eq!(rsa_public_key(&[&whole[..], &[0]].concat()), None);
        assert_eq!(rsa_public_key(&[0x31, 7, 2, 2, 0, 0x81, 2, 1, 3]), None);
    }
}

//! Takes Trapline's webhooks; needs the crates `hmac` 0.13, `sha2` 0.11 and `data-encoding`.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// In seconds.
const TOLERANCE: u64 = 300;

/// Whether the body, as it came, was signed with the secret (all of it, with `whsec_`), and lately.
/// `now` is the Unix time in seconds.
pub(crate) fn is_genuine(
    secret: &str,
    timestamp: &str,
    signature: &str,
    body: &[u8],
    now: u64,
) -> bool {
    let Ok(seconds) = timestamp.parse::<u64>() else { return false };
    if now.abs_diff(seconds) > TOLERANCE {
        return false;
    }
    let Some(hex) = signature.strip_prefix("sha256=") else { return false };
    let Ok(given) = HEXLOWER.decode(hex.as_bytes()) else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    // In constant time.
    mac.verify_slice(&given).is_ok()
}

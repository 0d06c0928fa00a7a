//! What a receiver can tell our deliveries by.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The value of `X-Webhook-Signature`: HMAC-SHA-256 over `<timestamp>.<body>`. The key is the whole
/// secret, with its prefix.
#[expect(clippy::expect_used, reason = "HMAC takes a key of any length (RFC 2104, section 3)")]
pub(super) fn signature(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key will do");
    mac.update(timestamp.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("sha256={}", HEXLOWER.encode(&mac.finalize().into_bytes()))
}

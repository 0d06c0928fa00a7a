//! The signature by which a receiver knows deliveries of this service (docs/webhooks.md).

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use trapline_model::Time;

use super::RequestSigner;

/// Signs with a webhook's secret.
pub(super) struct SecretSigner(String);

impl SecretSigner {
    pub(super) fn new(secret: String) -> Self {
        Self(secret)
    }
}

impl RequestSigner for SecretSigner {
    fn headers(&self, at: Time, body: &[u8]) -> Vec<(&'static str, String)> {
        let timestamp = at.millis().div_euclid(1000);
        vec![
            ("x-webhook-timestamp", timestamp.to_string()),
            ("x-webhook-signature", signature(&self.0, timestamp, body)),
        ]
    }
}

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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The file that the receivers in every language are tested with, too.
    const VECTORS: &str = include_str!("../../../../tests/clients/webhooks/vectors.json");

    #[test]
    fn published_vectors_hold() {
        let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
        assert!(vectors.len() >= 4);
        for vector in &vectors {
            let text = |name: &str| vector[name].as_str().unwrap();
            let timestamp = text("timestamp").parse().unwrap();
            let made = signature(text("secret"), timestamp, text("body").as_bytes());
            let valid = vector["valid"].as_bool().unwrap();
            assert_eq!(made == text("signature"), valid, "{}", text("name"));
        }
    }
}

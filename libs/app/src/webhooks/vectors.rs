//! The test vectors that docs/webhooks.md publishes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;

use super::sign::signature;

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

//! Keys on the curve P-256, and compact signatures of JSON with them (RFC 7515, RFC 7518 `ES256`).

use aws_lc_rs::{
    agreement::{ECDH_P256, PrivateKey},
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde_json::{Value, json};
use trapline_model::Time;

use crate::Chance;

/// Bytes of a number of the curve.
const NUMBER: usize = 32;

/// A private key, as the text of a credential has it: when it was made, and its number in hexadecimal digits.
pub(crate) struct EcKey {
    created_at: Time,
    private: Vec<u8>,
    /// A byte that says how the point is written, and its two numbers.
    public: Vec<u8>,
}

impl EcKey {
    /// The text of a new key. One number in 2^32 is none of the curve; the next is taken then.
    pub(crate) fn new_text(chance: &Chance, now: Time) -> String {
        loop {
            let text = format!("{}.{}", now.millis(), chance.hex(2 * NUMBER));
            if Self::of(&text).is_some() {
                return text;
            }
        }
    }

    /// Reads the text of a key; none where it is another text.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (millis, number) = text.split_once('.')?;
        let private = HEXLOWER.decode(number.as_bytes()).ok()?;
        let key = PrivateKey::from_private_key(&ECDH_P256, &private).ok()?;
        let public = key.compute_public_key().ok()?.as_ref().to_vec();
        let created_at = Time::from_millis(millis.parse().ok()?);
        Some(Self { created_at, private, public })
    }

    /// Names the key: a UUID (RFC 9562, version 8) of a hash of the public half.
    pub(crate) fn id(&self) -> String {
        let mut hex = HEXLOWER.encode(&digest(&SHA256, &self.public).as_ref()[..16]);
        hex.replace_range(12..13, "8");
        hex.replace_range(16..17, "a");
        let part = |from: usize, to: usize| &hex[from..to];
        format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
    }

    /// The public half (RFC 7517), with its times in seconds.
    pub(crate) fn public(&self, expired_at: Option<Time>) -> Value {
        let number = |at: usize| BASE64URL_NOPAD.encode(&self.public[at..at + NUMBER]);
        let seconds = |time: Time| time.millis().div_euclid(1000);
        json!({
            "alg": "ES256", "crv": "P-256", "kid": self.id(), "kty": "EC", "use": "sig",
            "x": number(1), "y": number(1 + NUMBER),
            "created_at": seconds(self.created_at), "expired_at": expired_at.map(seconds),
        })
    }

    /// A compact signature over these claims.
    pub(crate) fn sign(&self, claims: &Value) -> Option<String> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair =
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, &self.private, &self.public)
                .ok()?;
        let head = json!({"alg": "ES256", "kid": self.id(), "typ": "JWT"});
        let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(&head), part(claims));
        let signature = pair.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        Some(format!("{signed}.{}", BASE64URL_NOPAD.encode(signature.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_key_is_named_by_its_public_half() {
        let now = Time::from_millis(1_800_000_000_000);
        let text = |seed| EcKey::new_text(&Chance::new([seed; 32]), now);
        let key = EcKey::of(&text(1)).unwrap();
        assert_eq!(key.id(), EcKey::of(&text(1)).unwrap().id());
        assert_ne!(key.id(), EcKey::of(&text(2)).unwrap().id());
        assert_eq!(key.public(None)["created_at"], 1_800_000_000);
        for broken in ["", "1", "1.00", "x.00", &format!("1.{}", "0".repeat(64))] {
            assert!(EcKey::of(broken).is_none(), "{broken}");
        }
    }
}

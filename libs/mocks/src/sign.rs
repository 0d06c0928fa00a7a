//! How providers sign what they send. A scheme is data: which bytes, which algorithm, which headers.

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac,
};
use data_encoding::{BASE64, HEXLOWER};
use trapline_model::Time;

/// How a provider signs.
pub enum SigningScheme {
    /// It does not.
    Unsigned,
    /// By these, all with one secret.
    Signed {
        /// The credential that is the secret.
        secret: &'static str,
        /// One for each version of its signatures.
        signs: &'static [Sign],
    },
    /// In a way of its own.
    Own {
        /// The credential that is the secret.
        secret: &'static str,
        /// What signs.
        sign: fn(&Signing<'_>) -> SignedRequest,
    },
}

impl SigningScheme {
    /// The credential that is the secret.
    #[must_use]
    pub fn secret(&self) -> Option<&'static str> {
        match self {
            Self::Unsigned => None,
            Self::Signed { secret, .. } | Self::Own { secret, .. } => Some(secret),
        }
    }
}

/// One signature.
#[derive(Debug)]
pub struct Sign {
    /// How it is computed.
    pub(crate) algorithm: Algorithm,
    /// What the key is, given the secret.
    pub(crate) key: KeyForm,
    /// What is signed: a template of `{t}` (seconds), `{ms}`, `{id}`, `{body}`, `{url}`, `{secret}` and `{params}`
    /// (form fields in the order of their names, name and value joined).
    pub(crate) over: &'static str,
    /// How it is written.
    pub(crate) text: SignatureText,
    /// Headers in lower case, and templates of their values, which have `{sig}` too.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Algorithm {
    HmacSha256,
    HmacSha1,
    /// No key: the secret is in what is hashed.
    Sha256,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyForm {
    /// The secret as it is.
    Text,
    /// The bytes that the secret is the base64 of.
    Base64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum SignatureText {
    Hex,
    Base64,
}

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub struct Signing<'a> {
    /// The secret.
    pub secret: &'a str,
    /// The secret before it, while that still holds.
    pub before: Option<&'a str>,
    /// The time of the signature.
    pub at: Time,
    /// Names the delivery.
    pub id: &'a str,
    /// Where it is sent.
    pub url: &'a str,
    /// What is sent.
    pub body: &'a [u8],
}

/// The headers of a signature, names in lower case.
pub type SignedRequest = Vec<(&'static str, String)>;

/// Signs a request. A secret of the wrong form signs nothing, so that no verifier takes it.
#[must_use]
pub fn sign(scheme: &SigningScheme, signing: &Signing<'_>) -> SignedRequest {
    match scheme {
        SigningScheme::Unsigned => Vec::new(),
        SigningScheme::Signed { signs, .. } => {
            signs.iter().flat_map(|sign| headers(sign, signing)).collect()
        }
        SigningScheme::Own { sign, .. } => sign(signing),
    }
}

fn headers(sign: &Sign, signing: &Signing<'_>) -> SignedRequest {
    let signature = signature(sign, signing);
    let (seconds, millis) = (seconds(signing.at), signing.at.millis());
    let value = |template: &str| {
        let filled = template.replace("{t}", &seconds.to_string());
        let filled = filled.replace("{ms}", &millis.to_string()).replace("{id}", signing.id);
        filled.replace("{sig}", &signature)
    };
    sign.headers.iter().map(|(name, template)| (*name, value(template))).collect()
}

/// Seconds since 1970.
pub(crate) fn seconds(at: Time) -> i64 {
    at.millis().div_euclid(1000)
}

fn signature(sign: &Sign, signing: &Signing<'_>) -> String {
    let key = match sign.key {
        KeyForm::Text => signing.secret.as_bytes().to_vec(),
        KeyForm::Base64 => BASE64.decode(signing.secret.as_bytes()).unwrap_or_default(),
    };
    let over = over(sign.over, signing);
    let bytes = match sign.algorithm {
        Algorithm::HmacSha256 => hmac_of(hmac::HMAC_SHA256, &key, &over),
        Algorithm::HmacSha1 => hmac_of(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key, &over),
        Algorithm::Sha256 => digest(&SHA256, &over).as_ref().to_vec(),
    };
    match sign.text {
        SignatureText::Hex => HEXLOWER.encode(&bytes),
        SignatureText::Base64 => BASE64.encode(&bytes),
    }
}

fn hmac_of(algorithm: hmac::Algorithm, key: &[u8], over: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(algorithm, key), over).as_ref().to_vec()
}

/// Fills the template of what is signed; the body goes in as its bytes.
fn over(template: &str, signing: &Signing<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        bytes.extend(before.as_bytes());
        let (word, after) = behind.split_once('}').unwrap_or((behind, ""));
        match word {
            "t" => bytes.extend(seconds(signing.at).to_string().as_bytes()),
            "ms" => bytes.extend(signing.at.millis().to_string().as_bytes()),
            "id" => bytes.extend(signing.id.as_bytes()),
            "url" => bytes.extend(signing.url.as_bytes()),
            "secret" => bytes.extend(signing.secret.as_bytes()),
            "params" => bytes.extend(parameters(signing.body).as_bytes()),
            _ => bytes.extend(signing.body),
        }
        rest = after;
    }
    bytes.extend(rest.as_bytes());
    bytes
}

fn parameters(body: &[u8]) -> String {
    let mut pairs: Vec<_> = form_urlencoded::parse(body).collect();
    pairs.sort();
    pairs.into_iter().flat_map(|(name, value)| [name, value]).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use data_encoding::BASE64URL_NOPAD;
    use serde_json::Value;

    use super::*;
    use crate::{Chance, jws::EcKey};

    /// Signatures that the vendors' own verifiers took.
    const VECTORS: &str = include_str!("../tests/webhook_vectors.json");

    #[test]
    fn the_vendors_vectors_hold() {
        let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
        let mut held = 0;
        for vector in &vectors {
            let text = |name: &str| vector[name].as_str().unwrap();
            let Some(provider) = crate::find(text("provider")) else { continue };
            // What is sent here to the apps of Twilio is a form.
            if vector["content_type"] == "application/json" {
                continue;
            }
            let Some(secret) = vector["secret"].as_str() else {
                held += usize::from(is_signed_with_public_key(vector));
                continue;
            };
            let signing = Signing {
                secret,
                before: None,
                at: Time::from_millis(vector["timestamp"].as_i64().unwrap() * 1000),
                id: "",
                url: text("url"),
                body: text("body").as_bytes(),
            };
            let signed = sign(&provider.hooks.scheme, &signing);
            let wanted = vector["headers"].as_object().unwrap();
            assert_eq!(signed.len(), wanted.len(), "{}", provider.id);
            for (name, value) in wanted {
                let found = signed.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
                assert_eq!(found.map(|(_, value)| value.as_str()), value.as_str(), "{name}");
            }
            held += 1;
        }
        let signing = crate::ALL
            .iter()
            .filter(|provider| !matches!(provider.hooks.scheme, SigningScheme::Unsigned))
            .count();
        assert_eq!(held, signing);
    }

    /// The signature of a vector holds for its public key, and ours is over the same text, but for the key's id.
    fn is_signed_with_public_key(vector: &Value) -> bool {
        let token = vector["headers"]["Plaid-Verification"].as_str().unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let number = |name: &str| {
            let text = vector["secret"][name].as_str().unwrap();
            BASE64URL_NOPAD.decode(text.as_bytes()).unwrap()
        };
        let point = [vec![4], number("x"), number("y")].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
        key.verify(signed.as_bytes(), &signature).unwrap();
        let at = Time::from_millis(vector["timestamp"].as_i64().unwrap() * 1000);
        let secret = EcKey::new_text(&Chance::new([1; 32]), at);
        let body = vector["body"].as_str().unwrap().as_bytes();
        let signing = Signing { secret: &secret, before: None, at, id: "", url: "", body };
        let provider = crate::find(vector["provider"].as_str().unwrap()).unwrap();
        let ours = sign(&provider.hooks.scheme, &signing);
        let (head, rest) = ours[0].1.split_once('.').unwrap();
        let id = EcKey::of(&secret).unwrap().id();
        let head = String::from_utf8(BASE64URL_NOPAD.decode(head.as_bytes()).unwrap()).unwrap();
        let head = BASE64URL_NOPAD.encode(head.replace(&id, "kid-1").as_bytes());
        format!("{head}.{rest}").starts_with(&format!("{signed}."))
    }
}

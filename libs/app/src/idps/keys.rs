//! Keys of providers: made, sealed, certified, and shown as JSON Web Keys.

pub(super) mod certificate;
mod der;
mod rsa;

use aws_lc_rs::{
    encoding::AsDer as _,
    rand::SystemRandom,
    rsa::{KeyPair as RsaKeyPair, KeySize},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use trapline_model::{IdpId, SigningAlg, Time};
use trapline_store::records::IdpKeyPair;

use crate::{Error, Result, secrets::Secrets};
pub(crate) use rsa::RsaKeys;

/// A pair of keys that nobody has yet.
pub(super) struct NewKeyPair {
    alg: SigningAlg,
    /// PKCS #8.
    private: Vec<u8>,
    /// An RSA key as PKCS #1, one of P-256 as its uncompressed point.
    public: Vec<u8>,
}

impl NewKeyPair {
    /// Makes an RSA key of 2,048 bits, which takes up to a second of a processor.
    fn rsa() -> Result<Self> {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| Error::Crypto)?;
        let private = pair.as_der().map_err(|_| Error::Crypto)?.as_ref().to_vec();
        let public = pair.public_key().as_ref().to_vec();
        Ok(Self { alg: SigningAlg::RS256, private, public })
    }

    /// Makes a key on P-256, which takes tens of microseconds.
    pub(super) fn p256() -> Result<Self> {
        let alg = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(alg, &SystemRandom::new());
        let private = pkcs8.map_err(|_| Error::Crypto)?.as_ref().to_vec();
        let pair = EcdsaKeyPair::from_pkcs8(alg, &private).map_err(|_| Error::Crypto)?;
        let public = pair.public_key().as_ref().to_vec();
        Ok(Self { alg: SigningAlg::ES256, private, public })
    }

    /// The private key, PKCS #8.
    pub(super) fn private(&self) -> &[u8] {
        &self.private
    }

    /// The key as a provider has it: sealed, and certified where SAML may use it.
    pub(super) fn of_idp(
        self,
        secrets: &Secrets,
        idp: IdpId,
        slug: &str,
        now: Time,
    ) -> Result<IdpKeyPair> {
        let certificate = match self.alg {
            SigningAlg::RS256 => Some(certificate::self_signed(&self.private, slug, now)?),
            SigningAlg::ES256 => None,
        };
        let kid = thumbprint(self.alg, &self.public)?;
        let private = secrets.seal(&key_context(idp, &kid), &BASE64.encode(&self.private))?;
        Ok(IdpKeyPair {
            kid,
            alg: self.alg,
            public: BASE64.encode(&self.public),
            private,
            certificate,
            created_at: now,
            retires_at: None,
        })
    }
}

/// What a private key is sealed for.
pub(super) fn key_context(idp: IdpId, kid: &str) -> String {
    format!("idp-key:{idp}:{kid}")
}

/// The members of a key that its thumbprint is made of (RFC 7638, section 3.2).
pub(super) fn members(alg: SigningAlg, public: &[u8]) -> Result<Value> {
    let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
    match alg {
        SigningAlg::RS256 => {
            let (modulus, exponent) = der::rsa_public_key(public).ok_or(Error::Crypto)?;
            Ok(json!({ "e": text(exponent), "kty": "RSA", "n": text(modulus) }))
        }
        SigningAlg::ES256 => {
            // 4, x and y (SEC 1, section 2.3.3).
            let (_, point) = public.split_first().ok_or(Error::Crypto)?;
            let (x, y) = point.split_at_checked(32).ok_or(Error::Crypto)?;
            Ok(json!({ "crv": "P-256", "kty": "EC", "x": text(x), "y": text(y) }))
        }
    }
}

/// RFC 7638, section 3: the members in the order of their names, without white space.
fn thumbprint(alg: SigningAlg, public: &[u8]) -> Result<String> {
    let members = members(alg, public)?;
    Ok(BASE64URL_NOPAD.encode(&Sha256::digest(members.to_string().as_bytes())))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// The example of RFC 7638, section 3.1, as PKCS #1.
    #[test]
    fn a_thumbprint_is_that_of_the_standard() {
        let modulus = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR\
                       1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf\
                       0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n\
                       91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1j\
                       F44-csFCur-kEgU8awapJzKnqDKgw";
        let modulus = BASE64URL_NOPAD.decode(modulus.as_bytes()).unwrap();
        let head = [0x30, 0x82, 1, 10, 2, 0x82, 1, 1, 0];
        let public = [&head[..], &modulus, &[2, 3, 1, 0, 1]].concat();
        let found = thumbprint(SigningAlg::RS256, &public).unwrap();
        assert_eq!(found, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    }

    #[test]
    fn new_keys_differ_and_show_their_public_part_only() {
        let (one, other) = (NewKeyPair::p256().unwrap(), NewKeyPair::p256().unwrap());
        let of = |key: &NewKeyPair| thumbprint(key.alg, &key.public).unwrap();
        assert_ne!(of(&one), of(&other));
        let shown = members(one.alg, &one.public).unwrap();
        let names: Vec<_> = shown.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["crv", "kty", "x", "y"]);
    }
}

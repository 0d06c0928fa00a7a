//! A provider as a request at it sees it.

use std::{sync::Arc, time::Instant};

use aws_lc_rs::{
    rand::SystemRandom,
    rsa::KeyPair as RsaKeyPair,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair,
        RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey, VerificationAlgorithm,
    },
};
use data_encoding::BASE64;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use trapline_model::SigningAlg;
use trapline_store::{
    load,
    records::{IdpKeyPair, IdpRecord, IdpSlug},
};

use super::{
    Idps,
    keys::{NewKeyPair, key_context, members},
    present::{published, signing_key},
    secret_context,
    uris::is_registered,
};
use crate::{CpuPool, Error, Result, metrics};

const RSA_HEAD: [u8; 24] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00,
];
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A provider, as it was when the request came.
#[derive(Debug, Clone)]
pub struct IdpHandle {
    /// Its settings, with the secret and the private keys sealed.
    pub settings: Arc<IdpRecord>,
    /// The issuer identifier.
    pub issuer: String,
}

impl IdpHandle {
    /// Whether a browser may be sent here after a sign-in.
    #[must_use]
    pub fn redirects_to(&self, uri: &str) -> bool {
        is_registered(&self.settings.redirect_uris, uri)
    }

    /// Whether a browser may be sent here after a sign-out.
    #[must_use]
    pub fn logs_out_to(&self, uri: &str) -> bool {
        is_registered(&self.settings.post_logout_redirect_uris, uri)
    }

    /// The id of the key that signs tokens now; empty where there is none.
    #[must_use]
    pub fn signing_kid(&self) -> &str {
        signing_key(&self.settings).map_or("", |key| &key.kid)
    }
}

/// A private key that was read.
pub(super) enum SigningKey {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
}

impl SigningKey {
    pub(super) fn of(alg: SigningAlg, pkcs8: &[u8]) -> Result<Self> {
        match alg {
            SigningAlg::RS256 => RsaKeyPair::from_pkcs8(pkcs8).map(Self::Rsa),
            SigningAlg::ES256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).map(Self::P256)
            }
        }
        .map_err(|_| Error::Crypto)
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                let signed = key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.map(|()| signature)
            }
            Self::P256(key) => {
                key.sign(&random, message).map(|signature| signature.as_ref().to_vec())
            }
        }
        .map_err(|_| Error::Crypto)
    }
}

impl Idps {
    /// The provider that a slug leads to; `None` when there is none, or its team is gone.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn provider(&self, slug: &str) -> Result<Option<IdpHandle>> {
        let place = if let Some(place) = self.slugs.get(slug) {
            place
        } else {
            let found = load::<IdpSlug>(&*self.store, &IdpSlug::row(slug)).await?;
            let found = found.filter(|(slug, _)| !slug.is_deleted);
            let Some((IdpSlug { team, idp, .. }, _)) = found else { return Ok(None) };
            (team, idp)
        };
        let found = load::<IdpRecord>(&*self.store, &IdpRecord::row(place.0, place.1)).await?;
        let Some((record, _)) = found else { return Ok(None) };
        if !self.plans.is_there(place.0).await? {
            return Ok(None);
        }
        self.slugs.insert(slug.to_owned(), place);
        let issuer = self.issuer(slug);
        Ok(Some(IdpHandle { settings: Arc::new(record), issuer }))
    }

    /// Whether this is the secret of the provider's client, compared in constant time.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`] when the secret does not open.
    pub fn is_secret(&self, provider: &IdpHandle, secret: &str) -> Result<bool> {
        let IdpRecord { id, client_secret, .. } = &*provider.settings;
        let known = self.secrets.open(&secret_context(*id), client_secret)?;
        Ok(known.as_bytes().ct_eq(secret.as_bytes()).into())
    }

    /// The keys that everybody may know, as a JSON Web Key Set (RFC 7517, section 5).
    ///
    /// # Errors
    ///
    /// [`Error::Crypto`] for a key that cannot be read.
    pub fn jwks(&self, provider: &IdpHandle) -> Result<Value> {
        let active = provider.signing_kid();
        let mut keys: Vec<_> = published(&provider.settings, self.clock.now()).collect();
        keys.sort_by_key(|key| key.kid != active);
        let keys: Vec<_> = keys.into_iter().map(jwk).collect::<Result<_>>()?;
        Ok(json!({ "keys": keys }))
    }

    /// Signs with the key that signs now, beside the reactor.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when too much waits for a processor, and [`Error::WrongMasterKey`] when the
    /// key does not open.
    pub async fn sign(
        &self,
        cpu: &CpuPool,
        provider: &IdpHandle,
        message: String,
    ) -> Result<Vec<u8>> {
        let pair = signing_key(&provider.settings).ok_or(Error::Crypto)?;
        let key = self.private_key(provider, pair)?;
        let alg = pair.alg.name();
        cpu.run_short(move || {
            let began = Instant::now();
            let signature = key.sign(message.as_bytes());
            metrics::idp_signature(alg, began.elapsed());
            signature
        })
        .await?
    }

    /// Signs with a key of the same kind that is published nowhere.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when too much waits for a key or a processor.
    pub async fn sign_wrongly(
        &self,
        cpu: &CpuPool,
        provider: &IdpHandle,
        message: String,
    ) -> Result<Vec<u8>> {
        let pair = match provider.settings.signing_alg {
            SigningAlg::RS256 => self.rsa.take().await?,
            SigningAlg::ES256 => NewKeyPair::p256()?,
        };
        let key = SigningKey::of(provider.settings.signing_alg, pair.private())?;
        cpu.run_short(move || key.sign(message.as_bytes())).await?
    }

    /// The public key that signs tokens now, in PEM (RFC 7468, section 13).
    ///
    /// # Errors
    ///
    /// [`Error::Crypto`] for a key that cannot be read.
    pub fn public_pem(&self, provider: &IdpHandle) -> Result<String> {
        let key = signing_key(&provider.settings).ok_or(Error::Crypto)?;
        let public = BASE64.decode(key.public.as_bytes()).map_err(|_| Error::Crypto)?;
        // What comes before such a key in a SubjectPublicKeyInfo (RFC 8017, A.1; RFC 5480, 2.1.1).
        let head: &[u8] = match key.alg {
            SigningAlg::RS256 => &RSA_HEAD,
            SigningAlg::ES256 => &P256_HEAD,
        };
        let text = BASE64.encode(&[head, &public].concat());
        let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        let lines = lines.join("\n");
        Ok(format!("-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"))
    }

    pub(super) fn private_key(
        &self,
        provider: &IdpHandle,
        pair: &IdpKeyPair,
    ) -> Result<Arc<SigningKey>> {
        if let Some(key) = self.parsed.get(&pair.kid) {
            return Ok(key);
        }
        let text =
            self.secrets.open(&key_context(provider.settings.id, &pair.kid), &pair.private)?;
        let pkcs8 = BASE64.decode(text.as_bytes()).map_err(|_| Error::Crypto)?;
        let key = Arc::new(SigningKey::of(pair.alg, &pkcs8)?);
        self.parsed.insert(pair.kid.clone(), key.clone());
        Ok(key)
    }

    /// Whether a published key of this id and algorithm signed the message.
    #[must_use]
    pub fn is_signed(
        &self,
        provider: &IdpHandle,
        (kid, alg): (&str, &str),
        message: &str,
        signature: &[u8],
    ) -> bool {
        let mut keys = published(&provider.settings, self.clock.now());
        let Some(key) = keys.find(|key| key.kid == kid && key.alg.name() == alg) else {
            return false;
        };
        let Ok(public) = BASE64.decode(key.public.as_bytes()) else { return false };
        let rule: &'static dyn VerificationAlgorithm = match key.alg {
            SigningAlg::RS256 => &RSA_PKCS1_2048_8192_SHA256,
            SigningAlg::ES256 => &ECDSA_P256_SHA256_FIXED,
        };
        UnparsedPublicKey::new(rule, public).verify(message.as_bytes(), signature).is_ok()
    }
}

/// A public key as a JSON Web Key (RFC 7517, section 4).
fn jwk(key: &IdpKeyPair) -> Result<Value> {
    let public = BASE64.decode(key.public.as_bytes()).map_err(|_| Error::Crypto)?;
    let mut jwk = members(key.alg, &public)?;
    jwk["kid"] = json!(key.kid);
    jwk["alg"] = json!(key.alg.name());
    jwk["use"] = json!("sig");
    Ok(jwk)
}

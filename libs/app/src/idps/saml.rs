//! What SAML takes of a provider: the RSA key and its certificate, and names that only one service provider knows.

use std::{sync::Arc, time::Instant};

use trapline_model::{IdpUserId, SigningAlg};
use trapline_store::records::{IdpKeyPair, IdpLogin, IdpRecord};
use trapline_store::{Op, When, load};

use super::{
    IdpHandle, Idps, keys::certificate, present::published, provider::SigningKey,
    sign_in::LOGIN_TTL,
};
use crate::{Error, Result, metrics, secrets::sha256_hex};

/// A key that signs SAML messages, with its certificate.
pub struct SamlKey {
    key: Arc<SigningKey>,
    certificate: String,
}

impl SamlKey {
    /// Signs with RSA, PKCS #1 v1.5 and SHA-256, which keeps a processor busy for a millisecond.
    ///
    /// # Errors
    ///
    /// [`Error::Crypto`] when the key does not sign.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        let began = Instant::now();
        let signature = self.key.sign(message);
        metrics::idp_signature(SigningAlg::RS256.name(), began.elapsed());
        signature
    }

    /// The certificate, DER in base64.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }
}

impl Idps {
    /// The key that signs SAML messages now: RSA, whatever signs tokens.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`] when the key does not open.
    pub fn saml_key(&self, provider: &IdpHandle) -> Result<SamlKey> {
        let pair = saml_key(&provider.settings).ok_or(Error::Crypto)?;
        let certificate = pair.certificate.as_deref().map(der_of).ok_or(Error::Crypto)?;
        Ok(SamlKey { key: self.private_key(provider, pair)?, certificate })
    }

    /// A key that is published nowhere, with a certificate of the same name.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when too much waits for a key.
    pub async fn stray_saml_key(&self, provider: &IdpHandle) -> Result<SamlKey> {
        let pair = self.rsa.take().await?;
        let key = SigningKey::of(SigningAlg::RS256, pair.private())?;
        let slug = &provider.settings.slug;
        let pem = certificate::self_signed(pair.private(), slug, self.clock.now())?;
        Ok(SamlKey { key: Arc::new(key), certificate: der_of(&pem) })
    }

    /// The certificates that are published now in PEM, that of the key that signs first.
    #[must_use]
    pub fn saml_certificates<'p>(&self, provider: &'p IdpHandle) -> Vec<&'p str> {
        let now = self.clock.now();
        let mut keys: Vec<_> = published(&provider.settings, now).collect();
        keys.sort_by_key(|key| key.retires_at.is_some());
        keys.into_iter().filter_map(|key| key.certificate.as_deref()).collect()
    }

    /// A name of a user that is another one for each service provider, and stays the same over rotations of keys
    /// (saml-core, section 8.3.7): 64 hexadecimal digits. What it is made of besides is up to the caller.
    #[must_use]
    pub fn saml_pseudonym(&self, provider: &IdpHandle, user: IdpUserId, of: &str) -> String {
        self.secrets.sign(&format!("idp-saml-name|{}|{user}|{of}", provider.settings.id))
    }

    /// Keeps the newest SAML response of a provider for 15 minutes.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn keep_response(&self, provider: &IdpHandle, response: String) -> Result<()> {
        let idp = provider.settings.id;
        let kept = IdpLogin { sha256: response_name(provider), idp, request: response };
        Ok(self.store.write(vec![Op::put(&kept, Some(LOGIN_TTL), When::Always)?]).await?)
    }

    /// The newest SAML response of a provider; `None` when none is of the last 15 minutes.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn kept_response(&self, provider: &IdpHandle) -> Result<Option<String>> {
        let row = IdpLogin::row(&response_name(provider));
        Ok(load::<IdpLogin>(&*self.store, &row).await?.map(|(kept, _)| kept.request))
    }
}

fn response_name(provider: &IdpHandle) -> String {
    sha256_hex(&format!("saml-response|{}", provider.settings.id))
}

fn saml_key(idp: &IdpRecord) -> Option<&IdpKeyPair> {
    idp.keys.iter().find(|key| key.alg == SigningAlg::RS256 && key.retires_at.is_none())
}

/// The base64 between the lines of PEM (RFC 7468), without line breaks.
fn der_of(pem: &str) -> String {
    pem.lines().filter(|line| !line.starts_with("-----")).collect()
}

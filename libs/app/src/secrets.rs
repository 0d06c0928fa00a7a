//! Secrets: sealed or hashed at rest, compared in constant time.

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};
use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The installation's own key; every other key is derived from it.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// Makes a random key.
    ///
    /// # Errors
    ///
    /// When the operating system has no random bytes.
    pub fn generate() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    /// Reads what [`MasterKey::to_text`] wrote; `None` when it is something else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        BASE64.decode(text.trim().as_bytes()).ok()?.try_into().ok().map(Self)
    }

    /// The key as base64, for a file that only the service can read.
    #[must_use]
    pub fn to_text(&self) -> String {
        BASE64.encode(&self.0)
    }

    /// Names the key, and is no help in finding it: 8 hexadecimal digits, also of what it sealed.
    ///
    /// # Errors
    ///
    /// [`Error::Crypto`] when there is no such derivation, which does not happen.
    pub fn id(&self) -> Result<String> {
        Ok(HEXLOWER.encode(&self.derive(b"key id")?[..ID_BYTES]))
    }

    fn derive(&self, purpose: &[u8]) -> Result<[u8; 32]> {
        let mut key = [0; 32];
        let salt = Salt::new(HKDF_SHA256, b"trapline");
        let filled = salt
            .extract(&self.0)
            .expand(&[purpose], HKDF_SHA256)
            .and_then(|okm| okm.fill(&mut key));
        filled.map_err(|_| Error::Crypto)?;
        Ok(key)
    }
}

/// The form of what is sealed, with the id of the key behind it: `v1:<key id>:<base64>`. Releases
/// before it wrote the base64 alone, which has no colon.
const FORM: &str = "v1";
/// Bytes of a key's id: enough to tell the keys of one installation apart, and no help in finding one.
const ID_BYTES: usize = 4;

/// Seals secrets that must be read again (AES-256-GCM), and signs what must be known again
/// (HMAC-SHA-256).
pub(crate) struct Secrets {
    seal: LessSafeKey,
    key_id: String,
    sign: Hmac<Sha256>,
}

impl Secrets {
    pub(crate) fn new(master: &MasterKey) -> Result<Self> {
        let seal = UnboundKey::new(&AES_256_GCM, &master.derive(b"seal")?);
        let sign = Hmac::new_from_slice(&master.derive(b"sign")?);
        Ok(Self {
            seal: LessSafeKey::new(seal.map_err(|_| Error::Crypto)?),
            key_id: master.id()?,
            sign: sign.map_err(|_| Error::Crypto)?,
        })
    }

    /// Seals a secret, bound to `context` so that it opens nowhere else.
    pub(crate) fn seal(&self, context: &str, secret: &str) -> Result<String> {
        let text = BASE64.encode(&seal(&self.seal, context, secret)?);
        Ok(format!("{FORM}:{}:{text}", self.key_id))
    }

    /// Opens a sealed secret. [`Error::WrongMasterKey`] when it was sealed with another key or for
    /// another context, or is damaged.
    pub(crate) fn open(&self, context: &str, sealed: &str) -> Result<String> {
        let sealed = match sealed.split_once(':') {
            None => Some(sealed),
            Some((FORM, rest)) => {
                rest.strip_prefix(&self.key_id).and_then(|it| it.strip_prefix(':'))
            }
            Some(_) => None,
        };
        let bytes = sealed.and_then(|sealed| BASE64.decode(sealed.as_bytes()).ok());
        bytes.and_then(|bytes| open(&self.seal, context, bytes)).ok_or(Error::WrongMasterKey)
    }

    /// Seals a word for a URL that is its own proof: only this installation can make one that opens
    /// for `context`, and nobody else can read the word.
    pub(crate) fn seal_for_url(&self, context: &str, word: &str) -> Result<String> {
        Ok(BASE64URL_NOPAD.encode(&seal(&self.url_key(context)?, context, word)?))
    }

    /// Opens what [`Secrets::seal_for_url`] sealed; none for anything else.
    pub(crate) fn open_from_url(&self, context: &str, sealed: &str) -> Option<String> {
        let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        open(&self.url_key(context).ok()?, context, bytes)
    }

    /// Each URL has a key of its own, since random nonces suffice for 2^32 seals by one key (NIST
    /// SP 800-38D, section 8.3) and a preview makes hundreds of URLs.
    fn url_key(&self, context: &str) -> Result<LessSafeKey> {
        let key = self.mac(&format!("url key|{context}")).finalize().into_bytes();
        UnboundKey::new(&AES_256_GCM, &key).map(LessSafeKey::new).map_err(|_| Error::Crypto)
    }

    /// Signs a text, in hex.
    pub(crate) fn sign(&self, text: &str) -> String {
        HEXLOWER.encode(&self.mac(text).finalize().into_bytes())
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let mut mac = self.sign.clone();
        mac.update(text.as_bytes());
        mac
    }
}

fn seal(key: &LessSafeKey, context: &str, secret: &str) -> Result<Vec<u8>> {
    let nonce = random::<NONCE_LEN>();
    let mut text = secret.as_bytes().to_vec();
    let sealed = key.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(context.as_bytes()),
        &mut text,
    );
    sealed.map_err(|_| Error::Crypto)?;
    Ok([nonce.as_slice(), &text].concat())
}

fn open(key: &LessSafeKey, context: &str, mut sealed: Vec<u8>) -> Option<String> {
    let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let plain = key.open_in_place(nonce, Aad::from(context.as_bytes()), text).ok()?;
    String::from_utf8(plain.to_vec()).ok()
}

/// SHA-256 in hex, for keys of high entropy.
pub(crate) fn sha256_hex(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

/// Letters and digits, each as likely as any other.
pub(crate) fn random_text(length: usize, alphabet: &[u8]) -> String {
    let fair = 256 - 256 % alphabet.len();
    let mut text = String::with_capacity(length);
    while text.len() < length {
        for byte in random::<32>().into_iter().map(usize::from).filter(|byte| *byte < fair) {
            if text.len() < length {
                text.push(char::from(alphabet[byte % alphabet.len()]));
            }
        }
    }
    text
}

/// Letters and digits of API keys and passwords.
pub(crate) const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Letters and digits of user names, without those that look alike.
pub(crate) const USERNAME: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";

#[expect(clippy::expect_used, reason = "a machine without randomness can keep no secret")]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system's random source answers");
    bytes
}

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;
/// Characters of a token.
pub(crate) const TOKEN_LENGTH: usize = 43;

/// A token of a link or a session, which is kept as its hash only.
pub(crate) fn new_token() -> String {
    BASE64URL_NOPAD.encode(&random::<TOKEN_BYTES>())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn secrets() -> Secrets {
        Secrets::new(&MasterKey([7; 32])).unwrap()
    }

    fn opens(secrets: &Secrets, context: &str, sealed: &str) -> Option<String> {
        match secrets.open(context, sealed) {
            Ok(secret) => Some(secret),
            Err(Error::WrongMasterKey) => None,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_sealed_secret_opens_only_in_its_context() {
        let sealed = secrets().seal("smtp:ada", "pa55").unwrap();
        assert_eq!(opens(&secrets(), "smtp:ada", &sealed).as_deref(), Some("pa55"));
        assert_eq!(opens(&secrets(), "smtp:bob", &sealed), None);
        for damaged in ["", "v1", "v1:", &sealed[4..], &sealed[..sealed.len() - 4], "pa55"] {
            assert_eq!(opens(&secrets(), "smtp:ada", damaged), None, "{damaged}");
        }
        assert_ne!(sealed, secrets().seal("smtp:ada", "pa55").unwrap());
    }

    #[test]
    fn a_sealed_secret_names_its_key_and_opens_with_no_other() {
        let other = Secrets::new(&MasterKey([8; 32])).unwrap();
        let sealed = secrets().seal("smtp:ada", "pa55").unwrap();
        let (form, rest) = sealed.split_once(':').unwrap();
        let (id, text) = rest.split_once(':').unwrap();
        assert_eq!((form, id), ("v1", secrets().key_id.as_str()));
        assert_ne!(id, other.key_id);
        assert_eq!(opens(&other, "smtp:ada", &sealed), None);
        assert_eq!(opens(&other, "smtp:ada", &format!("v1:{}:{text}", other.key_id)), None);
        assert_eq!(opens(&secrets(), "smtp:ada", &sealed.replace("v1", "v2")), None);
    }

    /// Sealed by the first release, with the key of these tests.
    #[test]
    fn what_an_earlier_release_sealed_still_opens() {
        let sealed = "AAECAwQFBgcICQoLUckZtK8RsO+tk6Nj9/aA4Ro5R3k=";
        assert_eq!(opens(&secrets(), "smtp:ada", sealed).as_deref(), Some("pa55"));
        assert_eq!(opens(&secrets(), "smtp:bob", sealed), None);
        let other = Secrets::new(&MasterKey([8; 32])).unwrap();
        assert_eq!(opens(&other, "smtp:ada", sealed), None);
    }

    #[test]
    fn what_is_sealed_for_a_url_shows_nothing_and_opens_for_that_url_only() {
        let sealed = secrets().seal_for_url("m|1|html", "team").unwrap();
        assert_eq!(secrets().open_from_url("m|1|html", &sealed).as_deref(), Some("team"));
        assert_eq!(secrets().open_from_url("m|2|html", &sealed), None);
        for damaged in ["", &sealed[4..], &sealed[..sealed.len() - 4], "team"] {
            assert_eq!(secrets().open_from_url("m|1|html", damaged), None, "{damaged}");
        }
        let other = Secrets::new(&MasterKey([8; 32])).unwrap();
        assert_eq!(other.open_from_url("m|1|html", &sealed), None);
        let shown = BASE64URL_NOPAD.decode(sealed.as_bytes()).unwrap();
        assert!(!shown.windows(4).any(|part| part == b"team"));
    }

    #[test]
    fn random_text_uses_the_whole_alphabet_and_no_more() {
        let text = random_text(20_000, USERNAME);
        assert_eq!(text.len(), 20_000);
        assert!(USERNAME.iter().all(|letter| text.as_bytes().contains(letter)));
        assert!(text.bytes().all(|letter| USERNAME.contains(&letter)));
    }
}

//! Enveloped signatures (XML Signature 1.1; saml-core, section 5): over the canonical text that the writer makes.

#[cfg(test)]
mod tests;

use aws_lc_rs::digest::{self, Algorithm};
use data_encoding::BASE64;
use trapline_app::{Error, Result};

use super::xml::{Element, Namespace, Node};

const EXCLUSIVE_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
/// The one algorithm of signatures.
pub(crate) const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";

/// How what is signed is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigestMethod {
    Sha256,
    /// Only when somebody asks for what clients should refuse.
    Sha1,
}

impl DigestMethod {
    fn uri(self) -> &'static str {
        match self {
            Self::Sha256 => "http://www.w3.org/2001/04/xmlenc#sha256",
            Self::Sha1 => "http://www.w3.org/2000/09/xmldsig#sha1",
        }
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        }
    }
}

/// Who signs.
pub(crate) struct SamlSigner<'k> {
    /// The certificate in base64, as signatures show it.
    pub(crate) certificate: &'k str,
    pub(crate) digest: DigestMethod,
    /// RSA with PKCS #1 v1.5 and SHA-256.
    pub(crate) sign: &'k dyn Fn(&[u8]) -> Result<Vec<u8>>,
}

fn ds(name: &'static str) -> Element {
    Element::new(Namespace::Ds, name)
}

impl SamlSigner<'_> {
    /// Puts a signature over the whole element behind its issuer, where the schemas want it.
    ///
    /// # Errors
    ///
    /// Those of the key, and [`Error::Crypto`] for an element without an `ID`.
    pub(crate) fn sign(&self, element: &mut Element) -> Result<()> {
        let id = element.attribute("ID").ok_or(Error::Crypto)?.to_owned();
        let digest = digest::digest(self.digest.algorithm(), element.canonical().as_bytes());
        let info = self.signed_info(&id, digest.as_ref());
        let signature = (self.sign)(info.canonical().as_bytes())?;
        let signature = ds("Signature")
            .child(info)
            .child(ds("SignatureValue").text(BASE64.encode(&signature)))
            .child(key_info(self.certificate));
        let is_issuer =
            |child: &Node| matches!(child, Node::Element(it) if it.is(Namespace::Saml, "Issuer"));
        let place = element.children.iter().position(is_issuer).map_or(0, |place| place + 1);
        element.children.insert(place, Node::Element(signature));
        Ok(())
    }

    fn signed_info(&self, id: &str, digest: &[u8]) -> Element {
        let transforms = [ENVELOPED, EXCLUSIVE_C14N]
            .map(|transform| ds("Transform").with("Algorithm", transform));
        let reference = ds("Reference")
            .with("URI", format!("#{id}"))
            .child(ds("Transforms").children(transforms))
            .child(ds("DigestMethod").with("Algorithm", self.digest.uri()))
            .child(ds("DigestValue").text(BASE64.encode(digest)));
        ds("SignedInfo")
            .child(ds("CanonicalizationMethod").with("Algorithm", EXCLUSIVE_C14N))
            .child(ds("SignatureMethod").with("Algorithm", RSA_SHA256))
            .child(reference)
    }
}

/// A certificate in base64, as signatures and metadata show it.
pub(crate) fn key_info(certificate: &str) -> Element {
    let certificate = ds("X509Certificate").text(certificate);
    ds("KeyInfo").child(ds("X509Data").child(certificate))
}

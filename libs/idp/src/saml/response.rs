//! Responses (saml-profiles, section 4.1.4.2): what they say, and how they are signed.

use jiff::Timestamp;
use trapline_app::{Result, SamlSession};
use trapline_model::SamlSign;

use super::{
    name::name_id,
    sign::SamlSigner,
    xml::{Element, Namespace},
};

pub(super) const SUCCESS: &str = "urn:oasis:names:tc:SAML:2.0:status:Success";
const BEARER: &str = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const BASIC: &str = "urn:oasis:names:tc:SAML:2.0:attrname-format:basic";
/// What the provider says of how somebody was signed in, where the request does not say.
pub(crate) const DEFAULT_CLASS: &str =
    "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport";

/// A status other than success: two words of `urn:oasis:names:tc:SAML:2.0:status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FailedStatus {
    pub(crate) top: &'static str,
    pub(crate) sub: Option<&'static str>,
}

/// To whom a response goes, and what it answers.
#[derive(Debug, Clone)]
pub(crate) struct SamlEnvelope {
    pub(crate) id: String,
    pub(crate) issuer: String,
    pub(crate) destination: String,
    pub(crate) in_response_to: Option<String>,
    /// Seconds since 1970.
    pub(crate) issued_at: i64,
}

/// What an assertion says. Times are in seconds since 1970.
#[derive(Debug, Clone)]
pub(crate) struct AssertionClaims {
    pub(crate) id: String,
    pub(crate) entity_id: String,
    pub(crate) name: SamlSession,
    pub(crate) recipient: String,
    pub(crate) audience: String,
    pub(crate) not_before: i64,
    pub(crate) not_on_or_after: i64,
    pub(crate) auth_instant: i64,
    pub(crate) session_index: String,
    pub(crate) session_ends: i64,
    pub(crate) class: String,
    pub(crate) attributes: Vec<(String, Vec<String>)>,
}

/// What of a response is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) assertion: bool,
    pub(crate) response: bool,
}

impl From<SamlSign> for Signed {
    fn from(sign: SamlSign) -> Self {
        Self { assertion: sign != SamlSign::Response, response: sign != SamlSign::Assertion }
    }
}

fn saml(name: &'static str) -> Element {
    Element::new(Namespace::Saml, name)
}

pub(super) fn samlp(name: &'static str) -> Element {
    Element::new(Namespace::Samlp, name)
}

/// A time in whole seconds, in UTC.
pub(super) fn instant(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// The issuer of a message.
pub(super) fn issuer(entity_id: &str) -> Element {
    saml("Issuer").text(entity_id)
}

/// A status (saml-core, section 3.2.2.1).
pub(super) fn status(failed: Option<FailedStatus>) -> Element {
    let urn = |word: &str| format!("urn:oasis:names:tc:SAML:2.0:status:{word}");
    let code = |value: String| samlp("StatusCode").with("Value", value);
    samlp("Status").child(match failed {
        None => code(SUCCESS.to_owned()),
        Some(FailedStatus { top, sub }) => code(urn(top)).children(sub.map(|sub| code(urn(sub)))),
    })
}

impl SamlEnvelope {
    /// A response without an assertion.
    pub(crate) fn response(&self, failed: Option<FailedStatus>) -> Element {
        self.head(samlp("Response")).child(status(failed))
    }

    /// What every message begins with.
    pub(crate) fn head(&self, message: Element) -> Element {
        message
            .with("ID", self.id.as_str())
            .with("Version", "2.0")
            .with("IssueInstant", instant(self.issued_at))
            .with("Destination", self.destination.as_str())
            .with_some("InResponseTo", self.in_response_to.as_deref())
            .child(issuer(&self.issuer))
    }
}

impl AssertionClaims {
    /// The assertion inside of an envelope.
    pub(crate) fn assertion(&self, envelope: &SamlEnvelope) -> Element {
        saml("Assertion")
            .with("ID", self.id.as_str())
            .with("Version", "2.0")
            .with("IssueInstant", instant(envelope.issued_at))
            .child(issuer(&envelope.issuer))
            .child(self.subject(envelope))
            .child(self.conditions())
            .child(self.authentication())
            .children(self.attribute_statement())
    }

    fn subject(&self, envelope: &SamlEnvelope) -> Element {
        let data = saml("SubjectConfirmationData")
            .with("NotOnOrAfter", instant(self.not_on_or_after))
            .with("Recipient", self.recipient.as_str())
            .with_some("InResponseTo", envelope.in_response_to.as_deref());
        let confirmation = saml("SubjectConfirmation").with("Method", BEARER).child(data);
        saml("Subject").child(name_id(&self.name, &self.entity_id)).child(confirmation)
    }

    fn conditions(&self) -> Element {
        let audience = saml("Audience").text(self.audience.as_str());
        saml("Conditions")
            .with("NotBefore", instant(self.not_before))
            .with("NotOnOrAfter", instant(self.not_on_or_after))
            .child(saml("AudienceRestriction").child(audience))
    }

    fn authentication(&self) -> Element {
        let class = saml("AuthnContextClassRef").text(self.class.as_str());
        saml("AuthnStatement")
            .with("AuthnInstant", instant(self.auth_instant))
            .with("SessionIndex", self.session_index.as_str())
            .with("SessionNotOnOrAfter", instant(self.session_ends))
            .child(saml("AuthnContext").child(class))
    }

    fn attribute_statement(&self) -> Option<Element> {
        let attributes: Vec<_> = self.attributes.iter().map(attribute).collect();
        (!attributes.is_empty()).then(|| saml("AttributeStatement").children(attributes))
    }
}

fn attribute((name, values): &(String, Vec<String>)) -> Element {
    let values = values.iter().map(|value| saml("AttributeValue").text(value.as_str()));
    saml("Attribute").with("Name", name.as_str()).with("NameFormat", BASIC).children(values)
}

/// Puts an assertion into a response, and signs what is to be signed: the assertion first.
///
/// # Errors
///
/// Those of the key.
pub(crate) fn assembled(
    response: Element,
    mut assertion: Element,
    parts: Signed,
    signer: &SamlSigner<'_>,
) -> Result<Element> {
    if parts.assertion {
        signer.sign(&mut assertion)?;
    }
    let mut response = response.child(assertion);
    if parts.response {
        signer.sign(&mut response)?;
    }
    Ok(response)
}

//! Messages of a service provider.

use std::io::Write as _;

use data_encoding::BASE64;
use flate2::{Compression, write::DeflateEncoder};

use super::{ACS, SP};

/// A request with its parts; an empty one is left out.
pub(super) struct AuthnRequest {
    pub(super) issuer: String,
    pub(super) acs: String,
    pub(super) destination: String,
    /// More attributes, and more children.
    pub(super) attributes: String,
    pub(super) children: String,
}

impl AuthnRequest {
    pub(super) fn new() -> Self {
        Self {
            issuer: SP.to_owned(),
            acs: ACS.to_owned(),
            destination: String::new(),
            attributes: String::new(),
            children: String::new(),
        }
    }

    pub(super) fn with(attributes: &str, children: &str) -> Self {
        Self { attributes: attributes.to_owned(), children: children.to_owned(), ..Self::new() }
    }

    pub(super) fn xml(&self) -> String {
        let attribute = |name: &str, value: &str| {
            if value.is_empty() { String::new() } else { format!(" {name}=\"{value}\"") }
        };
        let issuer = if self.issuer.is_empty() {
            String::new()
        } else {
            format!("<saml:Issuer>{}</saml:Issuer>", self.issuer)
        };
        format!(
            "<samlp:AuthnRequest{} {}{}{}>{issuer}{}</samlp:AuthnRequest>",
            head("_asked"),
            attribute("Destination", &self.destination),
            attribute("AssertionConsumerServiceURL", &self.acs),
            self.attributes,
            self.children
        )
    }
}

pub(super) fn logout_request(name: &str, index: &str) -> String {
    format!(
        "<samlp:LogoutRequest{}><saml:Issuer>{SP}</saml:Issuer><saml:NameID>{name}</saml:NameID>\
         <samlp:SessionIndex>{index}</samlp:SessionIndex></samlp:LogoutRequest>",
        head("_leaving")
    )
}

#[expect(clippy::disallowed_methods, reason = "what the machine shows, which the server goes by")]
fn head(id: &str) -> String {
    let now = jiff::Timestamp::now();
    format!(
        " xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" \
         xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"{id}\" Version=\"2.0\" \
         IssueInstant=\"{now}\""
    )
}

/// As the Redirect binding has it.
pub(super) fn deflated(xml: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(xml.as_bytes()).unwrap();
    BASE64.encode(&encoder.finish().unwrap())
}

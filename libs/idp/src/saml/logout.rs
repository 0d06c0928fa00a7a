//! Messages of a logout (saml-core, section 3.7), and how they are sent.

use std::io::Write as _;

use axum::response::Response;
use data_encoding::BASE64;
use flate2::{Compression, write::DeflateEncoder};
use trapline_app::{Error, IdpSession, Result, SamlKey, SamlSession};

use super::{
    Binding,
    name::name_id,
    response::{SamlEnvelope, samlp, status},
    sign::{DigestMethod, RSA_SHA256, SamlSigner},
    xml::Element,
};
use crate::{
    failure::EndpointFailure,
    page::sending,
    params::encode,
    redirect::{see_other, with_query},
    state::IdpState,
};

/// A message to be sent.
pub(crate) struct OutgoingLogout {
    pub(crate) to: String,
    /// The parameter that it is sent in.
    pub(crate) name: &'static str,
    pub(crate) message: Element,
    pub(crate) relay_state: Option<String>,
}

/// The request that a service provider end its session.
pub(crate) fn request(
    envelope: &SamlEnvelope,
    session: &IdpSession,
    known: &SamlSession,
) -> Element {
    envelope
        .head(samlp("LogoutRequest"))
        .child(name_id(known, &envelope.issuer))
        .child(samlp("SessionIndex").text(session.sid.as_str()))
}

/// The answer that a session has ended.
pub(crate) fn response(envelope: &SamlEnvelope) -> Element {
    envelope.head(samlp("LogoutResponse")).child(status(None))
}

impl OutgoingLogout {
    /// Signs the message and has the browser take it there. Returns the answer and the message.
    pub(crate) async fn send(
        self,
        idp: &IdpState,
        binding: Binding,
        key: SamlKey,
    ) -> Result<(Response, String), EndpointFailure> {
        let Self { to, name, message, relay_state } = self;
        match binding {
            Binding::Redirect => {
                let work = move || redirected(name, &message, relay_state.as_deref(), &key);
                let (query, xml) = idp.app.cpu().run_short(work).await??;
                Ok((see_other(&with_query(&to, &query)), xml))
            }
            Binding::Post => {
                let xml = idp.app.cpu().run_short(move || enveloped(message, &key)).await??;
                let mut fields = vec![(name.to_owned(), BASE64.encode(xml.as_bytes()))];
                fields.extend(relay_state.map(|state| ("RelayState".to_owned(), state)));
                Ok((sending(&to, &fields), xml))
            }
        }
    }
}

fn enveloped(mut message: Element, key: &SamlKey) -> Result<String> {
    let sign = |text: &[u8]| key.sign(text);
    let digest = DigestMethod::Sha256;
    SamlSigner { certificate: key.certificate(), digest, sign: &sign }.sign(&mut message)?;
    Ok(message.document())
}

/// The query with its signature over the octets before it (saml-bindings, section 3.4.4.1), and the message.
fn redirected(
    name: &str,
    message: &Element,
    relay_state: Option<&str>,
    key: &SamlKey,
) -> Result<(String, String)> {
    let xml = message.document();
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    deflated.write_all(xml.as_bytes()).map_err(|_| Error::Crypto)?;
    let text = BASE64.encode(&deflated.finish().map_err(|_| Error::Crypto)?);
    let state = relay_state.map(|state| ("RelayState", state));
    let pairs = [(name, text.as_str())].into_iter().chain(state).chain([("SigAlg", RSA_SHA256)]);
    let query = encode(pairs);
    let signature = BASE64.encode(&key.sign(query.as_bytes())?);
    let signature = encode([("Signature", signature.as_str())].into_iter());
    Ok((format!("{query}&{signature}"), xml))
}

//! SAML 2.0: the Web Browser SSO and Single Logout profiles, as an identity provider.

mod ask;
mod decode;
mod fault;
mod finish;
mod log;
mod logout;
mod message;
mod metadata;
mod name;
mod response;
mod sign;
mod slo;
mod sso;
mod wrapping;
mod xml;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use trapline_app::IdpHandle;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{failure::OauthRefusal as Refusal, state::IdpState};
pub(crate) use ask::{SamlAsked, read};
pub(crate) use decode::Binding;
pub(crate) use finish::finish;

/// The endpoints of all providers.
pub(crate) fn saml_routes() -> OpenApiRouter<IdpState> {
    OpenApiRouter::default()
        .routes(routes!(metadata::show))
        .routes(routes!(metadata::certificate))
        .routes(routes!(sso::by_query, sso::by_form))
        .routes(routes!(slo::by_query, slo::by_form))
}

/// The provider's entity id, which is where its metadata is (saml-metadata, section 4.1).
fn entity_id(provider: &IdpHandle) -> String {
    format!("{}/saml/metadata", provider.issuer)
}

fn sso_url(provider: &IdpHandle) -> String {
    format!("{}/saml/sso", provider.issuer)
}

fn slo_url(provider: &IdpHandle) -> String {
    format!("{}/saml/slo", provider.issuer)
}

/// An ID that no other message has: an `NCName` (saml-core, section 1.3.4).
fn new_id(idp: &IdpState) -> String {
    let random = Sha256::digest(idp.idps().random_id());
    format!("_{}", HEXLOWER.encode(&random[..16]))
}

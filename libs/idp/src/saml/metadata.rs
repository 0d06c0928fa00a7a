//! Metadata (saml-metadata, section 2.4.3) and the certificate of signatures.

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use trapline_app::{FaultProtocol, FaultScenario, IdpHandle};
use trapline_model::NameIdFormat;

use super::{
    Binding, entity_id,
    sign::key_info,
    xml::{Element, Namespace},
};
use crate::{
    discovery::fault_of,
    failure::EndpointFailure,
    state::{At, IdpState},
};

/// Read a provider's SAML metadata
///
/// saml-metadata, section 2.4.3; its address is also the provider's entity id. A fault that waits, `stale_keys`,
/// changes it.
#[utoipa::path(
    get,
    path = "/idp/{slug}/saml/metadata",
    operation_id = "getSamlMetadata",
    responses((
        status = 200,
        description = "An EntityDescriptor.",
        body = String,
        content_type = "application/samlmetadata+xml"
    ))
)]
pub(crate) async fn show(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Response, EndpointFailure> {
    let mut certificates = idp.idps().saml_certificates(&provider);
    let among = [FaultScenario::StaleKeys];
    if fault_of(&idp, &provider, &among, FaultProtocol::Saml).await?.is_some() {
        certificates = certificates.split_off(certificates.len().min(1));
    }
    let document = document(&provider, &certificates).document();
    let kind = HeaderValue::from_static("application/samlmetadata+xml");
    Ok(([(header::CONTENT_TYPE, kind)], document).into_response())
}

/// Download a provider's SAML certificate
///
/// That of the key which signs now.
#[utoipa::path(
    get,
    path = "/idp/{slug}/saml/certificate",
    operation_id = "getSamlCertificate",
    responses((
        status = 200,
        description = "The certificate in PEM (RFC 7468).",
        body = String,
        content_type = "application/x-pem-file"
    ))
)]
pub(crate) async fn certificate(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Response, EndpointFailure> {
    let certificates = idp.idps().saml_certificates(&provider);
    let pem = *certificates.first().ok_or(EndpointFailure::NotFound)?;
    let kind = HeaderValue::from_static("application/x-pem-file");
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, kind)], pem.to_owned()).into_response())
}

fn md(name: &'static str) -> Element {
    Element::new(Namespace::Md, name)
}

/// In the order of the schema.
fn document(provider: &IdpHandle, certificates: &[&str]) -> Element {
    let keys = certificates.iter().map(|pem| {
        let der: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        md("KeyDescriptor").with("use", "signing").child(key_info(&der))
    });
    let formats = NameIdFormat::ALL.map(|format| md("NameIDFormat").text(format.urn()));
    let role = md("IDPSSODescriptor")
        .with("protocolSupportEnumeration", Namespace::Samlp.uri())
        .with("WantAuthnRequestsSigned", "false")
        .children(keys)
        .children(at_both(provider, "SingleLogoutService", "slo"))
        .children(formats)
        .children(at_both(provider, "SingleSignOnService", "sso"));
    md("EntityDescriptor").with("entityID", entity_id(provider)).child(role)
}

/// An endpoint that takes either binding.
fn at_both(provider: &IdpHandle, name: &'static str, place: &str) -> [Element; 2] {
    [Binding::Redirect, Binding::Post].map(|binding| {
        md(name)
            .with("Binding", binding.urn())
            .with("Location", format!("{}/saml/{place}", provider.issuer))
    })
}

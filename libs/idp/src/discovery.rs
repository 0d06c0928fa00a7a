//! What a provider can do (`OpenID` Connect Discovery 1.0, section 3; RFC 8414, section 2), and its keys.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use trapline_app::{FaultProtocol, FaultScenario, IdpHandle, escape_html};
use trapline_model::{IdpClientType, IdpEventKind, SigningAlg};

use crate::{
    failure::EndpointFailure,
    faults::WRONG_ISSUER,
    log::LogEntry,
    openapi::{JsonWebKeySet, ProviderMetadata},
    page::page,
    params::RequestParams,
    state::{At, IdpState},
};

/// Read what a provider can do
///
/// `OpenID` Connect Discovery 1.0. Scripts of any page may read it. A fault that waits, `discovery_500` or
/// `discovery_wrong_issuer`, changes it.
#[utoipa::path(
    get,
    path = "/idp/{slug}/.well-known/openid-configuration",
    operation_id = "getProviderMetadata",
    responses((status = 200, description = "The metadata.", body = ProviderMetadata))
)]
pub(crate) async fn show(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Json<Value>, EndpointFailure> {
    metadata(&idp, &provider).await
}

/// Read what a provider can do, at the server's root
///
/// The same metadata where RFC 8414, section 5, has it under the name of `OpenID` Connect.
#[utoipa::path(
    get,
    path = "/.well-known/openid-configuration/idp/{slug}",
    operation_id = "getProviderMetadataAtRoot",
    responses((status = 200, description = "The metadata.", body = ProviderMetadata))
)]
pub(crate) async fn show_at_root(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Json<Value>, EndpointFailure> {
    metadata(&idp, &provider).await
}

/// Read what an authorization server can do
///
/// The same metadata where RFC 8414, section 3.1, has it.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server/idp/{slug}",
    operation_id = "getAuthorizationServerMetadata",
    responses((status = 200, description = "The metadata.", body = ProviderMetadata))
)]
pub(crate) async fn show_as_oauth(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Json<Value>, EndpointFailure> {
    metadata(&idp, &provider).await
}

async fn metadata(idp: &IdpState, provider: &IdpHandle) -> Result<Json<Value>, EndpointFailure> {
    let mut document = document(provider);
    let among = [FaultScenario::Discovery500, FaultScenario::DiscoveryWrongIssuer];
    match fault_of(idp, provider, &among, FaultProtocol::Oidc).await? {
        Some(FaultScenario::Discovery500) => return Err(EndpointFailure::Internal),
        Some(_) => document["issuer"] = json!(WRONG_ISSUER),
        None => {}
    }
    Ok(Json(document))
}

/// Read a provider's public keys
///
/// RFC 7517. Scripts of any page may read them. A fault that waits, `jwks_500` or `stale_keys`, changes them.
#[utoipa::path(
    get,
    path = "/idp/{slug}/jwks",
    operation_id = "getProviderKeys",
    responses((
        status = 200,
        description = "The keys.",
        body = JsonWebKeySet,
        headers(("Cache-Control" = String, description = "For how long to keep them."))
    ))
)]
pub(crate) async fn jwks(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
) -> Result<Response, EndpointFailure> {
    let mut keys = idp.idps().jwks(&provider)?;
    let among = [FaultScenario::Jwks500, FaultScenario::StaleKeys];
    match fault_of(&idp, &provider, &among, FaultProtocol::Oidc).await? {
        Some(FaultScenario::Jwks500) => return Err(EndpointFailure::Internal),
        Some(_) => {
            let active = provider.signing_kid();
            let known = keys["keys"].as_array_mut().into_iter();
            known.for_each(|keys| keys.retain(|key| key["kid"] != active));
        }
        None => {}
    }
    Ok(([(header::CACHE_CONTROL, "max-age=60")], Json(keys)).into_response())
}

/// The fault of a document, one of these, with its entry in the log.
pub(crate) async fn fault_of(
    idp: &IdpState,
    provider: &IdpHandle,
    among: &[FaultScenario],
    protocol: FaultProtocol,
) -> Result<Option<FaultScenario>, EndpointFailure> {
    let Some(fault) = idp.idps().take_document_fault(provider, among, protocol).await? else {
        return Ok(None);
    };
    let mut entry = LogEntry::of(IdpEventKind::Fault, &RequestParams::default());
    entry.event().fault = Some(fault.text());
    let summary = format!("The fault {} was used.", fault.text());
    entry.went_well(idp, provider, summary).await;
    Ok(Some(fault.scenario))
}

/// Open a provider in a browser
///
/// Says where to begin: the issuer, and where its metadata are.
#[utoipa::path(
    get,
    path = "/idp/{slug}",
    operation_id = "showProvider",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn about(At { provider, .. }: At) -> Response {
    let issuer = escape_html(&provider.issuer);
    let body = format!(
        "<p class=\"warning\">Test identity provider. Do not enter real credentials.</p>\
         <p>Issuer</p><pre>{issuer}</pre>\
         <p>Discovery</p><pre>{issuer}/.well-known/openid-configuration</pre>\
         <p>SAML metadata</p><pre>{issuer}/saml/metadata</pre>"
    );
    page(StatusCode::OK, "Test identity provider", &body)
}

/// Exactly what the endpoints do, and no more.
fn document(provider: &IdpHandle) -> Value {
    let (issuer, settings) = (&provider.issuer, &provider.settings);
    let at = |name: &str| format!("{issuer}/{name}");
    let algs = match settings.signing_alg {
        SigningAlg::RS256 => json!(["RS256"]),
        // RS256 is in every list (Discovery 1.0, section 3).
        SigningAlg::ES256 => json!(["ES256", "RS256"]),
    };
    let by_secret = ["client_secret_basic", "client_secret_post"];
    let methods = match settings.client_type {
        IdpClientType::Any => json!([by_secret[0], by_secret[1], "none"]),
        IdpClientType::Confidential => json!(by_secret),
        IdpClientType::Public => json!(["none", by_secret[0], by_secret[1]]),
    };
    json!({
        "issuer": issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "userinfo_endpoint": at("userinfo"),
        "jwks_uri": at("jwks"),
        "introspection_endpoint": at("introspect"),
        "revocation_endpoint": at("revoke"),
        "end_session_endpoint": at("end_session"),
        "scopes_supported":
            ["openid", "profile", "email", "address", "phone", "groups", "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": algs,
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "introspection_endpoint_auth_methods_supported": by_secret,
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "azp", "sid", "at_hash",
            "name", "preferred_username", "updated_at", "email", "email_verified", "groups"
        ],
        "claims_parameter_supported": true,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "authorization_response_iss_parameter_supported": true
    })
}

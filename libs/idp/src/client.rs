//! How a client shows who it is (RFC 6749, section 2.3).

use axum::http::{HeaderMap, header};
use data_encoding::BASE64;
use trapline_app::IdpHandle;
use trapline_model::IdpClientType;

use crate::{
    failure::{EndpointFailure, OauthRefusal},
    params::RequestParams,
    state::IdpState,
};

/// What a client showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The right secret.
    Secret,
    /// Only its id.
    Nothing,
}

/// Finds out whether the provider's client asks.
pub(crate) fn prove(
    idp: &IdpState,
    provider: &IdpHandle,
    headers: &HeaderMap,
    params: &RequestParams,
) -> Result<Proof, EndpointFailure> {
    let basic = basic(headers)?;
    let in_body = params.get("client_secret");
    if basic.is_some() && in_body.is_some() {
        let hint = "the client's secret came twice, in the header and in the body";
        return Err(OauthRefusal::new("invalid_request", hint).into());
    }
    let (id, secret, place) = match &basic {
        Some((id, secret)) => (id.as_str(), Some(secret.as_str()), "the header"),
        None => (params.get("client_id").unwrap_or_default(), in_body, "the body"),
    };
    let known = &provider.settings.client_id;
    let is_other = |id: &str| id != known;
    if is_other(id) || params.get("client_id").is_some_and(is_other) {
        let hint = format!("the client is {known}, and not {id:?}");
        return Err(OauthRefusal::new("invalid_client", hint).into());
    }
    let Some(secret) = secret else {
        if provider.settings.client_type == IdpClientType::Confidential {
            let hint = "the client's secret is missing, by HTTP Basic or as client_secret";
            return Err(OauthRefusal::new("invalid_client", hint).into());
        }
        return Ok(Proof::Nothing);
    };
    if !idp.idps().is_secret(provider, secret)? {
        let hint = format!("the client's secret in {place} is not the provider's");
        return Err(OauthRefusal::new("invalid_client", hint).into());
    }
    Ok(Proof::Secret)
}

/// The same for endpoints that want the secret.
pub(crate) fn prove_by_secret(
    idp: &IdpState,
    provider: &IdpHandle,
    headers: &HeaderMap,
    params: &RequestParams,
) -> Result<(), EndpointFailure> {
    match prove(idp, provider, headers, params)? {
        Proof::Secret => Ok(()),
        Proof::Nothing => {
            Err(OauthRefusal::new("invalid_client", "this takes the client's secret").into())
        }
    }
}

/// The credentials of `Authorization: Basic`, each form-encoded (RFC 6749, section 2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, OauthRefusal> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed =
        || OauthRefusal::new("invalid_client", "the Authorization header is not HTTP Basic");
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, text) = text.trim().split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let bytes = BASE64.decode(text.trim().as_bytes()).map_err(|_| malformed())?;
    let text = String::from_utf8(bytes).map_err(|_| malformed())?;
    let (id, secret) = text.split_once(':').ok_or_else(malformed)?;
    Ok(Some((decoded(id), decoded(secret))))
}

fn decoded(text: &str) -> String {
    let pair = format!("x={text}");
    let decoded = form_urlencoded::parse(pair.as_bytes()).next();
    // An `&` is in no credential of ours, so that what it cuts off matters to nobody.
    decoded.map_or_else(String::new, |(_, value)| value.into_owned())
}

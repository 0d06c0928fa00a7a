//! The end of a token, and with it of its whole sign-in (RFC 7009).

use axum::{extract::State, http::HeaderMap};
use serde_json::Value;
use trapline_app::IdpHandle;
use trapline_model::IdpEventKind;

use crate::{
    client::prove,
    failure::EndpointFailure,
    jwt,
    log::LogEntry,
    openapi::{OauthError, TokenQuestion},
    params::{RawBody, RequestParams},
    state::{At, IdpState},
    tokens::{ACCESS_TOKEN, grant_of},
};

/// End a sign-in by its token
///
/// RFC 7009: with the token its whole sign-in ends. Tokens that are none are answered in the same way, as there is
/// nothing to be done about them (section 2.2). Scripts of any page may ask.
#[utoipa::path(
    post,
    path = "/idp/{slug}/revoke",
    operation_id = "revokeToken",
    request_body(
        content = TokenQuestion,
        content_type = "application/x-www-form-urlencoded",
        description = "The token."
    ),
    responses(
        (status = 200, description = "The token is worth nothing now."),
        (status = 400, description = "`invalid_request`.", body = OauthError),
        (
            status = 401,
            description = "The client is unknown, or its secret is missing or wrong (`invalid_client`).",
            body = OauthError,
            headers(("WWW-Authenticate" = String, description = "`Basic`."))
        )
    )
)]
pub(crate) async fn revoke(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<(), EndpointFailure> {
    let params = RequestParams::of_form(&headers, &body)?;
    let entry = LogEntry::of(IdpEventKind::Revoke, &params);
    match end(&idp, &provider, &headers, &params).await {
        Ok(is_known) => {
            let word = if is_known { "has ended" } else { "is none of this provider" };
            entry.went_well(&idp, &provider, format!("The token {word}.")).await;
            Ok(())
        }
        Err(failure) => Err(entry.failed(&idp, &provider, failure).await),
    }
}

async fn end(
    idp: &IdpState,
    provider: &IdpHandle,
    headers: &HeaderMap,
    params: &RequestParams,
) -> Result<bool, EndpointFailure> {
    params.once_each()?;
    let token = params.required("token")?;
    prove(idp, provider, headers, params)?;
    let refresh = idp.idps().read_refresh_token(provider, token).map(|token| token.grant);
    let access = || {
        let claims = jwt::verified(idp, provider, ACCESS_TOKEN, token)?;
        claims.get("jti").and_then(Value::as_str).map(|jti| grant_of(jti).to_owned())
    };
    let Some(grant) = refresh.or_else(access) else { return Ok(false) };
    idp.idps().end_grant(provider, &grant).await?;
    Ok(true)
}

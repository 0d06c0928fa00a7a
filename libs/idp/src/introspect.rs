//! What a token is worth (RFC 7662).

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Map, Value, json};
use trapline_app::IdpHandle;
use trapline_model::IdpEventKind;

use crate::{
    client::prove_by_secret,
    failure::EndpointFailure,
    log::LogEntry,
    openapi::{OauthError, TokenQuestion, TokenState},
    params::{RawBody, RequestParams},
    state::{At, IdpState},
    tokens::good_token,
};

/// Ask what a token is worth
///
/// RFC 7662. The client shows its secret by HTTP Basic or in the form.
#[utoipa::path(
    post,
    path = "/idp/{slug}/introspect",
    operation_id = "introspectToken",
    request_body(
        content = TokenQuestion,
        content_type = "application/x-www-form-urlencoded",
        description = "The token."
    ),
    responses(
        (status = 200, description = "What it is worth.", body = TokenState),
        (status = 400, description = "`invalid_request`.", body = OauthError),
        (
            status = 401,
            description = "The client is unknown, or its secret is missing or wrong (`invalid_client`).",
            body = OauthError,
            headers(("WWW-Authenticate" = String, description = "`Basic`."))
        )
    )
)]
pub(crate) async fn introspect(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_form(&headers, &body)?;
    let entry = LogEntry::of(IdpEventKind::Introspect, &params);
    match examine(&idp, &provider, &headers, &params).await {
        Ok(found) => {
            let word = if found["active"] == true { "good" } else { "worth nothing" };
            entry.went_well(&idp, &provider, format!("The token is {word}.")).await;
            let headers = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
            Ok((headers, Json(found)).into_response())
        }
        Err(failure) => Err(entry.failed(&idp, &provider, failure).await),
    }
}

/// Members of the answer that the token itself has (RFC 7662, section 2.2).
const COPIED: [&str; 8] = ["scope", "client_id", "exp", "iat", "sub", "aud", "iss", "jti"];

async fn examine(
    idp: &IdpState,
    provider: &IdpHandle,
    headers: &HeaderMap,
    params: &RequestParams,
) -> Result<Value, EndpointFailure> {
    params.once_each()?;
    let token = params.required("token")?;
    prove_by_secret(idp, provider, headers, params)?;
    if let Some(good) = good_token(idp, provider, token).await? {
        let mut found = Map::new();
        found.insert("active".to_owned(), json!(true));
        found.insert("token_type".to_owned(), json!("Bearer"));
        for name in COPIED {
            if let Some(value) = good.claims.get(name) {
                found.insert(name.to_owned(), value.clone());
            }
        }
        if let Some((_, user)) = good.person {
            found.insert("username".to_owned(), json!(user.email));
        }
        return Ok(Value::Object(found));
    }
    refresh_token(idp, provider, token).await
}

async fn refresh_token(
    idp: &IdpState,
    provider: &IdpHandle,
    token: &str,
) -> Result<Value, EndpointFailure> {
    let nothing = || json!({ "active": false });
    let Some(token) = idp.idps().read_refresh_token(provider, token) else { return Ok(nothing()) };
    let grant = idp.idps().grant(provider, &token.grant).await?;
    let is_good = |grant: &trapline_app::IdpGrant| {
        grant.ended_at.is_none() && grant.generation == token.generation
    };
    let Some(sign_in) = grant.filter(is_good).and_then(|grant| grant.sign_in) else {
        return Ok(nothing());
    };
    let Some(user) = idp.idps().test_user(provider, sign_in.user).await? else {
        return Ok(nothing());
    };
    Ok(json!({
        "active": true, "scope": sign_in.scope.join(" "), "client_id": provider.settings.client_id,
        "username": user.email, "sub": user.subject, "iss": provider.issuer
    }))
}
